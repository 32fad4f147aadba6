"""Parameters: values that the command itself sets are known, all others are not."""

import pytest

from tests.support.shell_reading import argvs, risks


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("A=b; x $A", ["x", "b"]),
        ("A='b c'; x $A", ["x", "b", "c"]),
        ("A='b c'; x \"$A\"", ["x", "b c"]),
        ("A=b; A+=c; x $A", ["x", "bc"]),
        ('A=(b c); x "${A[@]}"', ["x", "b", "c"]),
        ('A=(b c); A+=(d); x "${A[*]}"', ["x", "b c d"]),
        ("A=(b c); x ${A[1]}", ["x", "c"]),
        ("IFS=,; A=b,c; x $A", ["x", "b", "c"]),
        ('set -- a b; x "$@" $#', ["x", "a", "b", None]),
        ("set -- a b; shift; x $1", ["x", "b"]),
        ("bash -c 'x \"$@\" $0' n a b", ["x", "a", "b", "n"]),
        ('f() { x "$1"; }; f a', ["x", "a"]),
        ("printf -v A %s b; x $A", ["x", "b"]),
        ("A=b; unset A; x $A", ["x", None]),
        ("read A; x $A", ["x", None]),
        ("A=b; x ${A:-c}", ["x", "b"]),
        ("x ${A:-c}", ["x", "c"]),
        ("x $1", ["x"]),
    ],
)
def test_parameter_expands_to_its_value(command, expected):
    """A value is used where it is certain."""
    assert argvs(command)[-1] == expected


@pytest.mark.parametrize(
    "command",
    ["true || A=rm; $A x", "if c; then A=ls; fi; $A", "while c; do A=ls; done; $A", "(A=ls); $A x"],
)
def test_value_that_may_differ_is_not_believed(command):
    """After a part that may not have run, a variable is not static."""
    assert "opaque" in risks(command)


@pytest.mark.parametrize("form", ["${X:-$(git push)}", "${X/a/$(git push)}", "${X:$(git push)}"])
def test_substitution_inside_an_expansion_is_read(form):
    """Code runs wherever it hides."""
    assert "publishes" in risks(f"echo {form}")
