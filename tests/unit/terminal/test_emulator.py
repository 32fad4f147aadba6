"""What comes out of the emulator, whatever goes in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.schema.stream import TerminalSize
from orchestrator.terminal.emulator import Emulator
from orchestrator.terminal.painter import Painter
from tests.support.terminals import strange

NASTY = st.sampled_from(
    [
        b"\x1b]52;c;cm0gLXJmIC8=\x07",
        b"\x1b]0;title\x1b\\",
        b"\x1b]8;;http://x\x07",
        b"\x1bP1$r0m\x1b\\",
        b"\x1bPq#0;2;0;0;0#0~~\x1b\\",
        b"\x1b_Gf=24;AAAA\x1b\\",
        b"\x1b[c",
        b"\x1b[>c",
        b"\x1b[6n",
        b"\x1b[?2004h",
        b"\x1b[201~",
        b"\x1b[?1049h",
        b"\x1b[?1049l",
        b"\x1b[?1000;1006h",
        b"\x1b[8;1000;1000t",
        b"\x1b[21t",
        b"\x1b[3;5r",
        b"\x1b[99999999b",
        b"\x1b[99999999S",
        b"\x1b[?6h",
        b"\x1b[?3h",
        b"\x1bc",
        b"\x1b7",
        b"\x1b8",
        b"\x1b(0",
        b"\x1b(B",
        b"\x1b#8",
        b"\x1b[38;5;999m",
        b"\x1b[38;2;1m",
        b"\x1b[38:2::1:2:3m",
        b"\x1b[4:3m",
        b"\x1b[m\x1b[?m\x1b[>4;2m",
        b"\x9b31m",
        b"\xc2\x9b31m",
        b"\xc2\x9d52;c;eA==\xc2\x9c",
        "漢字".encode(),
        "e\u0301\u0301\u0301".encode(),
        "\u202e\u200d\u2028\ufe0f\u3164".encode(),
        "👩\u200d🚀".encode(),
        b"\n" * 50,
        b"\x1b[1;1H",
        b"\x1b[9999;9999H",
        b"\x1bM",
        b"\x1bD",
        b"\x1b[L\x1b[M\x1b[P\x1b[@\x1b[X",
        b"\x1b[J\x1b[1J\x1b[2J\x1b[3J\x1b[9J\x1b[K\x1b[7K",
        b"\x1b[4h",
        b"\t\x1b[3g\x1bH\b\r",
        b"\x1b[s\x1b[u",
        b"\x1b",
        b"\x1b[",
        b"\x1b]",
        b"\x18",
    ]
)
PIECES = st.lists(st.one_of(NASTY, st.binary(max_size=20), st.text(max_size=20).map(str.encode)))
SIZES = st.builds(TerminalSize, st.integers(1, 30), st.integers(1, 12))


@settings(deadline=None, max_examples=300)
@given(size=SIZES, steps=st.lists(st.one_of(PIECES, SIZES), max_size=6))
def test_only_own_sequences_come_out(size, steps):
    """Clipboard, titles, queries, images and modes of the box have no way to the screen."""
    emulator, painter = Emulator(size), Painter(size)
    for step in steps:
        if isinstance(step, TerminalSize):
            emulator.resize(step)
            painter.resize(step)
        else:
            for piece in step:
                emulator.feed(piece)
        frame = painter.frame(emulator)
        assert strange(frame) == []
        assert len(emulator.text()) == emulator.size.rows
    assert strange(painter.enter() + painter.leave(emulator)) == []


def test_the_judge_of_frames_can_tell():
    """The test above fails where a foreign sequence comes through."""
    assert strange("\x1b]52;c;eA==\x07") != []
    assert strange("\x1b[6n") != []
    assert strange("\x1b[?2004h" * 2) != []


def shown(data, columns=20, rows=4):
    emulator = Emulator(TerminalSize(columns, rows))
    emulator.feed(data)
    return [line for line in emulator.text() if line]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"one\r\ntwo", ["one", "two"]),
        (b"a\x1b]0;evil\x07b\x1bPx\x1b\\c", ["abc"]),
        (b"a\x1b]0;never ended", ["a"]),
        (b"\x1b(0lqk\x1b(B lqk", ["┌─┐ lqk"]),
        (b"ab\x1b[1;2Hx", ["ax"]),
        (b"-\x1b[5b|", ["------|"]),
        ("漢字x".encode(), ["漢字x"]),
        ("e\u0301" + "\u0301" * 500 + "f", None),
        ("ไทย".encode(), ["ไทย"]),
        (b"1\r\n2\r\n3\x1b[S", ["2", "3"]),
        (b"1\r\n2\x1b[T", ["1", "2"]),
        (b"\x1b7one\x1b8two", ["two"]),
        (b"\x1b[38:2::1:2:3mx\x1b[4:3my", ["xy"]),
        (b"a\x9b31mb", ["a\ufffd31mb"]),
        ("a\u202eb\u00a0c".encode(), ["ab c"]),
    ],
)
def test_text_is_shown(data, lines):
    """As a terminal would, but for what could mislead."""
    if lines is None:
        assert len(shown(data.encode())[0]) < 10
    else:
        assert shown(data) == lines


def test_other_screen_comes_and_goes():
    """An editor leaves what was there before as it was, cursor included."""
    emulator = Emulator(TerminalSize(10, 3))
    emulator.feed(b"before\x1b[?1049h\x1b[Hediting\n\n\n\n")
    emulator.feed(b"\x1b[?1049l after")

    assert emulator.text()[:2] == ["before aft", "er"]
    assert emulator.take_scrolled() == ([], 0)


def test_resize_on_the_other_screen_fits_the_first_one_too():
    """Programs are told of a new size while an editor runs."""
    emulator = Emulator(TerminalSize(10, 3))
    emulator.feed(b"one\r\ntwo\r\nthree\x1b[?1049h")
    emulator.resize(TerminalSize(4, 2))
    emulator.feed(b"\x1b[?1049l")

    assert emulator.text() == ["two", "thre"]


def test_scrolled_lines_are_handed_out_once():
    """They belong into the screen's own history."""
    emulator = Emulator(TerminalSize(10, 2))
    emulator.feed(b"1\r\n2\r\n\x1b[31m3")
    lines, lost = emulator.take_scrolled()

    assert (["1" in line for line in lines], lost) == ([True], 0)
    assert emulator.take_scrolled() == ([], 0)


def test_flood_of_lines_is_counted_not_kept():
    """A screen cannot show more, and memory is bounded."""
    emulator = Emulator(TerminalSize(10, 2))
    emulator.feed(b"x\r\n" * 10_000)
    lines, lost = emulator.take_scrolled()

    assert (len(lines), len(lines) + lost) == (2000, 9999)


def test_queries_are_answered_to_the_program_alone():
    """The emulator knows where its cursor is; the person's terminal is not asked."""
    emulator = Emulator(TerminalSize(10, 2))
    emulator.feed(b"ab\x1b[6n\x1b[c" + b"\x1b[5n" * 1000)
    replies = emulator.take_replies()

    assert replies.startswith(b"\x1b[1;3R")
    assert len(replies) <= 1024
    assert emulator.take_replies() == b""


def test_program_may_ask_for_other_keys():
    """Which ones, the emulator tells."""
    emulator = Emulator(TerminalSize())
    emulator.feed(b"\x1b[?1;2004h")
    assert (emulator.wants_application_keys, emulator.wants_marked_pastes) == (True, True)
    emulator.feed(b"\x1b[?1l\x1b[?2004l\x1b[?25l")
    assert (emulator.wants_application_keys, emulator.wants_marked_pastes) == (False, False)
    assert not emulator.cursor.shown
