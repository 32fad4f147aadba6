"""Builtins that change what the shell knows."""

import pytest

from tests.support.shell_reading import argvs, risks


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("export A=rm; $A x", "rm"),
        ('export "A=rm"; $A x', "rm"),
        ("declare -x A=rm; $A x", "rm"),
        ("local A=rm; $A x", "rm"),
        ("printf -v A rm; $A x", "rm"),
        ("printf -vA rm; $A x", "rm"),
        ("A=rm; shift; $A x", "rm"),
        ("set -- rm; $1 x", "rm"),
        ("set -e -- rm; $1 x", "rm"),
    ],
)
def test_builtin_sets_what_later_commands_use(command, expected):
    """Values are followed through every way of setting them."""
    assert argvs(command)[-1] == [expected, "x"]


@pytest.mark.parametrize(
    "command",
    [
        "declare -i 'a[$(git push)]=1'",
        "let 'a[$(git push)]'",
        "read 'a[`git push`]'",
        "unset 'a[$(git push)]'",
        "printf -v 'a[$(git push)]' x",
        "test -v 'a[$(git push)]'",
    ],
)
def test_code_in_an_index_is_opaque(command):
    """bash runs it when it evaluates the name."""
    assert "opaque" in risks(command)


def test_variable_that_cannot_be_seen_is_opaque():
    """``export "$X"`` may set PATH."""
    assert "opaque" in risks('export "$X"')


@pytest.mark.parametrize(
    ("command", "cwd_is_known"),
    [("cd src; rm a", True), ("cd -; rm a", False), ("cd $X; rm a", False), ("popd; rm a", False)],
)
def test_directory_is_followed_or_unknown(command, cwd_is_known):
    """A delete in an unknown directory is a delete nobody can judge."""
    assert (risks(command) == set()) is cwd_is_known


def test_poisoned_lookup_is_found():
    """``hash -p`` and ``enable -f`` put something else behind a name."""
    assert risks("hash -p /bin/rm ls; ls x") == {"remote_code"}
    assert risks("enable -f ./x.so y") == {"remote_code"}
