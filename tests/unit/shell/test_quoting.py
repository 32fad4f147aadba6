"""Escapes of each quoting form."""

import pytest

from orchestrator.shell.quoting import shield, undo_ansi, undo_bare, undo_double, unshield


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\x72\x6d", "rm"),
        (r"\162\155", "rm"),
        (r"\u0072m", "rm"),
        (r"\U00000072m", "rm"),
        (r"a\tb\\c\'d", "a\tb\\c'd"),
        (r"\cA", "\x01"),
        (r"\q", r"\q"),
        (r"a\0b", "a"),
        (r"\UFFFFFFFF", "\ufffc"),
    ],
)
def test_ansi_escape_decodes_as_in_bash(text, expected):
    """``$'…'`` hides nothing."""
    assert undo_ansi(text) == expected


def test_double_quotes_keep_most_backslashes():
    """Only four characters lose theirs."""
    assert undo_double(r"\$ \` \" \\ \n \a") == r"$ ` " + '" ' + r"\ \n \a"


def test_escaped_character_is_inert_until_unshielded():
    """A quoted star is no glob, though the program receives a star."""
    inert = undo_bare(r"\*\{")
    assert (inert == "*{", unshield(inert)) == (False, "*{")
    assert unshield(shield("{a,b}*~")) == "{a,b}*~"
