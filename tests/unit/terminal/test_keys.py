import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.errors import UsageError
from orchestrator.terminal.keys import Keys, parse_key

DETACH = b"\x1d"


def typed(*pieces, application=False, marked=False):
    keys = Keys(DETACH)
    out, left = b"", False
    for piece in pieces:
        more, left = keys.feed(piece, application=application, marked=marked)
        out += more
        if left:
            break
    return out, left


def test_keys_go_through():
    """All of them: control keys, escapes, any character."""
    assert typed(b"ls\r\x03\x04\x1b", "ü".encode()) == (b"ls\r\x03\x04\x1b\xc3\xbc", False)


def test_one_key_leaves():
    """What was typed before it still goes in, what comes after does not."""
    assert typed(b"ab\x1dcd") == (b"ab", True)


def test_arrow_keys_take_the_form_that_the_program_asked_for():
    """The person's terminal stays in its own mode."""
    assert typed(b"\x1b[A\x1b[3~\x1b[1;5C", application=True)[0] == b"\x1bOA\x1b[3~\x1b[1;5C"
    assert typed(b"\x1b[A")[0] == b"\x1b[A"


@pytest.mark.parametrize(
    ("marked", "expected"),
    [(True, b"x\x1b[200~a\x1d\x1b[Ab\x1b[201~y"), (False, b"xa\x1d\x1b[Aby")],
)
def test_paste_is_text(marked, expected):
    """It leaves nothing and is marked only for a program that wants that."""
    paste = b"x\x1b[200~a\x1d\x1b[Ab\x1b[201~y"

    assert typed(paste, marked=marked, application=True) == (expected, False)


@given(cut=st.integers(0, 40), marked=st.booleans())
def test_mark_may_be_cut_anywhere_but_after_a_key(cut, marked):
    """Esc and Esc [ alone are keys, so a cut right there is taken for them."""
    paste = b"one\x1b[200~two\x1d\x1b[201~three"
    whole = typed(paste, marked=marked)
    halves = typed(paste[:cut], paste[cut:], marked=marked)

    if cut not in {4, 5}:
        assert halves == whole


@pytest.mark.parametrize(
    ("name", "key"), [("ctrl-]", b"\x1d"), ("Ctrl-Q", b"\x11"), ("ctrl-^", b"\x1e")]
)
def test_key_has_a_name(name, key):
    """As people write it."""
    assert parse_key(name) == key


@pytest.mark.parametrize("name", ["", "q", "ctrl-c", "ctrl-[", "ctrl-m", "alt-x", "ctrl-é"])
def test_other_names_are_refused(name):
    """Those too that programs need."""
    with pytest.raises(UsageError, match="--detach-key"):
        parse_key(name)
