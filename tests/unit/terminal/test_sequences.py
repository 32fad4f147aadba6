import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.terminal.sequences import SequenceFilter


def filtered(*pieces, **options):
    made = SequenceFilter(**options)
    return "".join(made.feed(piece) for piece in pieces)


@pytest.mark.parametrize(
    "kept",
    [
        "plain text\r\n\tand more\b",
        "\x1b[31;1mred\x1b[0m\x1b[m",
        "\x1b[2J\x1b[H\x1b[10;20H\x1b[K\x1b[3A",
        "\x1b[?1049h\x1b[?25l\x1b[?1h\x1b[?2004h",
        "\x1b7\x1b8\x1bM\x1bc",
        "\x1b[5S\x1b[2;10r",
        "漢字 ü └─┘",
    ],
)
def test_harmless_sequences_stay(kept):
    """What moves, erases, scrolls and colours is what a terminal is for."""
    assert filtered(kept.encode()) == kept


@pytest.mark.parametrize(
    "dropped",
    [
        b"\x1b]52;c;cm0=\x07",
        b"\x1b]0;title\x1b\\",
        b"\x1bP1;2qsixel\x1b\\",
        b"\x1b_Gimage\x1b\\",
        b"\x1b^private\x1b\\",
        b"\x1bXsos\x1b\\",
        b"\x1bkname\x1b\\",
        b"\x1b[c",
        b"\x1b[>0c",
        b"\x1b[6n",
        b"\x1b[?1000h",
        b"\x1b[?1004;1006l",
        b"\x1b[21t",
        b"\x1b[8;40;100t",
        b"\x1b[!p",
        b"\x1b[2 q",
        b"\x1b[>4;2m",
        b"\x1b[?6h",
        b"\x1b[i",
        b"\x07\x05\x0e\x0f\x7f\x00",
        b"\x1b#8",
        b"\x1b=",
        b"\x1b>",
        b"\xc2\x9b",
        "\u202e\u200b\u2066\ufeff".encode(),
    ],
)
def test_everything_else_goes(dropped):
    """Whatever asks, sets or carries a text; what stands around it stays."""
    assert filtered(b"a" + dropped + b"b") == "ab"


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        (b"\x1b[?1049;1000h", "\x1b[?1049h"),
        (b"\x1b[38:2::1:2:3m", "\x1b[38;2;1;2;3m"),
        (b"\x1b[38:5:200m", "\x1b[38;5;200m"),
        (b"\x1b[4:3;58:5:1m", "\x1b[4;58m"),
        (b"\x1b[4:0m", "\x1b[24m"),
        (b"\x1b(0lqk\x1b(Blqk", "┌─┐lqk"),
        (b"\v\f", "\n\n"),
        ("a\u00a0b\u3000c".encode(), "a b  c"),
    ],
)
def test_some_are_put_plainly(given_, kept):
    """In the oldest form that says the same."""
    assert filtered(given_) == kept


def test_queries_stay_for_an_emulator():
    """It answers them itself."""
    assert filtered(b"\x1b[6n\x1b[c\x1b[>c", answers=True) == "\x1b[6n\x1b[c"


def test_marks_on_one_character_are_bounded():
    """A thousand of them only cost whoever draws them."""
    assert filtered(("e" + "\u0301" * 1000 + "f").encode()) == "e" + "\u0301" * 4 + "f"


@pytest.mark.parametrize("start", [b"\x1b]0;", b"\x1bP", b"\x1b["])
def test_endless_sequence_holds_no_memory(start):
    """The box can send as much as it likes."""
    made = SequenceFilter()
    made.feed(start)
    for _ in range(100):
        assert made.feed(b"1" * 10_000).strip("1") == ""

    assert len(made._held) <= 64


def test_aborted_string_ends():
    """As terminals do: at CAN, or where another sequence begins."""
    assert filtered(b"\x1b]0;x\x18a\x1b]0;x\x1b[1mb") == "a\x1b[1mb"


PIECES = st.lists(
    st.one_of(
        st.sampled_from([b"\x1b", b"[", b"]", b"31m", b"\x1b[1;2H", b"\x07", b"\\", b"0;x", b"("]),
        st.binary(max_size=8),
        st.text(max_size=8).map(str.encode),
    )
)


@given(pieces=PIECES, answers=st.booleans())
def test_result_does_not_depend_on_where_it_was_cut(pieces, answers):
    """A sequence or a character may come in two reads."""
    whole = b"".join(pieces)
    single = [whole[at : at + 1] for at in range(len(whole))]

    assert filtered(*single, answers=answers) == filtered(whole, answers=answers)


@given(pieces=PIECES)
def test_filtering_twice_changes_nothing(pieces):
    """What came out is harmless: a recording can be played as it is."""
    once = filtered(*pieces)

    assert filtered(once.encode()) == once
