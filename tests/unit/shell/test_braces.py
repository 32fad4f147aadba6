"""Brace expansion."""

import pytest

from orchestrator.shell.braces import TooManyWordsError, expand_braces


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", ["a"]),
        ("{a,b}", ["a", "b"]),
        ("x{a,b}y", ["xay", "xby"]),
        ("{a,{b,c}}d", ["ad", "bd", "cd"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("{,a}b", ["b", "ab"]),
        ("{3..1}", ["3", "2", "1"]),
        ("{1..5..2}", ["1", "3", "5"]),
        ("{a..c}", ["a", "b", "c"]),
        ("{a}", ["{a}"]),
        ("{}", ["{}"]),
        ("{a,b", ["{a,b"]),
        ("${a,b}", ["${a,b}"]),
        ("{{a,b}", ["{a", "{b"]),
    ],
)
def test_braces_expand_as_in_bash(text, expected):
    """Groups multiply, sequences count, the rest stays."""
    assert expand_braces(text) == expected


@pytest.mark.parametrize("text", ["{1..100000}", "{a,b}" * 12])
def test_expansion_beyond_the_limit_is_an_error(text):
    """A word that becomes thousands is not listed."""
    with pytest.raises(TooManyWordsError):
        expand_braces(text)
