"""A paste is one text, whatever it holds and however it comes."""

import os

import pytest
from prompt_toolkit.keys import Keys

from orchestrator.cli.chat.keyboard import Keyboard

BEGIN, END = "\x1b[200~", "\x1b[201~"


@pytest.fixture
def keyboard():
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "r", encoding="utf-8") as source:
        made = Keyboard(source)
        with made.raw_mode():
            made.type = lambda text: os.write(ours, text.encode())
            yield made
    os.close(ours)


def presses(keyboard, *reads):
    """Return the keys of some reads without a pause between them, and those after one."""
    found = []
    for text in reads:
        keyboard.type(text)
        found += keyboard.read_keys()
    found += keyboard.flush_keys()
    return [(press.key, press.data) for press in found]


@pytest.mark.parametrize(
    "reads",
    [
        (f"{BEGIN}two\nlines{END}",),
        (f"{BEGIN}two", f"\nlines{END}"),
        ("\x1b", "[200", "~two\nlines\x1b[20", "1~"),
        (f"{BEGIN}two\nli{END}nes{END}",),
        (f"{BEGIN}two{END}", f"\nlines{END}"),
        (f"{BEGIN}two\n\x1b[201{END}~lines{END}",),
        (f"{BEGIN}{BEGIN}two\nlines{END}{END}",),
    ],
)
def test_paste_is_one_text_without_marks(keyboard, reads):
    """Also one that holds its own end mark, in the middle or at the end of a read."""
    assert presses(keyboard, *reads) == [(Keys.BracketedPaste, "two\nlines")]
    assert not keyboard.is_pasting


def test_end_mark_in_a_paste_presses_no_key(keyboard):
    """Neither Enter nor Ctrl-D behind it."""
    [(key, text)] = presses(keyboard, f"{BEGIN}a{END}\r/quit\r\x04{END}")

    assert key == Keys.BracketedPaste
    assert text == "a\r/quit\r\x04"


def test_keys_around_a_paste_are_keys(keyboard):
    before = presses(keyboard, f"x{BEGIN}text{END}")
    after = presses(keyboard, "\r")

    assert before == [("x", "x"), (Keys.BracketedPaste, "text")]
    assert after == [(Keys.ControlM, "\r")]


def test_escape_and_arrows_are_told_apart(keyboard):
    assert presses(keyboard, "\x1b") == [(Keys.Escape, "\x1b")]
    assert presses(keyboard, "\x1b", "[A") == [(Keys.Up, "\x1b[A")]
    assert presses(keyboard, "\x1b[2", "00") == [
        (Keys.Escape, "\x1b"),
        *((char, char) for char in "[200"),
    ]


def test_paste_that_does_not_end_waits(keyboard):
    """The person who pasted it is not in silence."""
    assert presses(keyboard, f"{BEGIN}half") == []
    assert keyboard.is_pasting
    assert keyboard.silent_s < 5
    assert presses(keyboard, END) == [(Keys.BracketedPaste, "half")]
