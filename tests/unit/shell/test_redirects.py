"""Redirections: operators, targets, truncation."""

import pytest

from tests.support.shell_reading import only, risks


@pytest.mark.parametrize(
    ("text", "op", "target", "writes"),
    [
        ("> f", ">", "f", True),
        (">> f", ">>", "f", True),
        (">| f", ">|", "f", True),
        ("&> f", "&>", "f", True),
        ("&>> f", "&>>", "f", True),
        ("< f", "<", "f", False),
        ("3<> f", "<>", "f", True),
        (">&2", ">&", None, False),
        ("2>&1", ">&", None, False),
        ("2>&-", ">&-", None, False),
        (">& f", ">&", "f", True),
        ("<<< w", "<<<", "w", False),
        ("> $X", ">", None, True),
        ('> "a b"', ">", "a b", True),
    ],
)
def test_redirection_is_read(text, op, target, writes):
    """Each operator says what it does to which file."""
    (redirect,) = only(f"x {text}").redirects
    assert (redirect.op, redirect.target, redirect.writes) == (op, target, writes)


@pytest.mark.parametrize(
    "command", [": > f", "> f", "true > f", "cat /dev/null > f", "echo -n > f"]
)
def test_emptying_a_file_is_destructive(command):
    """Its only effect is the loss."""
    assert risks(command) == {"destructive"}


@pytest.mark.parametrize("command", [": > /dev/null", "echo > f", "x > f", ": >> f", "true 2> f"])
def test_writing_is_no_emptying(command):
    """A command that prints replaces content on purpose."""
    assert risks(command) == set()


def test_arguments_after_a_redirection_still_count():
    """The order on the line does not matter to bash."""
    assert "destructive" in risks("rm > log -rf src")
    assert "destructive" in risks("rm 2>&1 <<<x -rf src")
    assert "destructive" in risks("rm <<E -rf src\nE")
