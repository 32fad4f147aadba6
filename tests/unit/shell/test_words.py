"""Words: what bash would hand to a program, quoting by quoting."""

import pytest

from orchestrator.shell.analyse import analyse
from tests.support.shell_reading import argvs, only


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("x a b", ["x", "a", "b"]),
        ("x 'a b' \"c d\"", ["x", "a b", "c d"]),
        ("x a'b'\"c\"", ["x", "abc"]),
        (r"x a\ b \'c\'", ["x", "a b", "'c'"]),
        (r'x "a\"b\$c\d"', ["x", 'a"b$c\\d']),
        (r"x $'a\tb\x41\u00e9\101'", ["x", "a\tbAéA"]),
        ('x $"a"', ["x", "a"]),
        ("x ''", ["x", ""]),
        ("x a\\\nb", ["x", "ab"]),
        ('x "a\\\nb"', ["x", "ab"]),
        ("x 'a\\\nb'", ["x", "a\\\nb"]),
        ("x {a,b}c", ["x", "ac", "bc"]),
        ("x {1..3}", ["x", "1", "2", "3"]),
        ("x '{a,b}' \\{c,d}", ["x", "{a,b}", "{c,d}"]),
        ("x ~ ~/a '~'", ["x", "/home/agent", "/home/agent/a", "~"]),
        ("x a#b", ["x", "a#b"]),
        ("x $HOME", ["x", "/home/agent"]),
        ('x "$PWD/a"', ["x", "/workspace/a"]),
        ("x $(echo a b)", ["x", "a", "b"]),
        ('x "$(echo a b)"', ["x", "a b"]),
        ("x `echo a`", ["x", "a"]),
        ("x $(printf '%s-%s' a b)", ["x", "a-b"]),
        ("x é$HOME", ["x", "é/home/agent"]),
    ],
)
def test_word_is_what_the_program_receives(command, expected):
    """Quotes, escapes, braces and known expansions are resolved as bash resolves them."""
    assert argvs(command)[-1] == expected


def only_last(command):
    """Return the last word of the last command."""
    return analyse(command).commands[-1].argv[-1]


@pytest.mark.parametrize("word", ["$X", '"a$X"', "$(date)", "`date`", "${X:?a}", "$((1+2))", "$$"])
def test_word_only_known_at_run_time_has_no_value(word):
    """What cannot be known is not guessed."""
    assert only_last(f"x {word}").value is None


def test_partly_known_word_keeps_its_known_part():
    """Rules can still see a prefix."""
    assert only_last("x --output=$X").shape == "--output=\ufffc"


def test_unquoted_dynamic_word_may_split_and_quoted_may_not():
    """The shell makes several words of the one, and one of the other."""
    assert (only_last("x $X").splits, only_last('x "$X"').splits) == (True, False)


def test_glob_counts_only_outside_quotes():
    """A quoted star is a star."""
    assert [word.glob for word in only("x *.py '*.py' \\*").argv[1:]] == [True, False, False]


def test_empty_expansion_outside_quotes_is_no_word():
    """An unset argument vanishes; in quotes it stays as an empty word."""
    assert argvs('E=; x $E "$E" a')[-1] == ["x", "", "a"]
