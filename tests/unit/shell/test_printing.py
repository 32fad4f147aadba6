"""What commands print, where that can be told."""

import pytest

from tests.support.shell_reading import argvs, risks


@pytest.mark.parametrize(
    ("producer", "expected"),
    [
        ("echo git push", ["git", "push"]),
        ("echo -n git push", ["git", "push"]),
        (r"echo -e '\x67it push'", ["git", "push"]),
        ("printf 'git push'", ["git", "push"]),
        ("printf '%s %s' git push", ["git", "push"]),
        (r"printf '\147it push'", ["git", "push"]),
        ("printf '%b' 'git\\tpush'", ["git", "push"]),
        ("echo git push | cat", ["git", "push"]),
        ("echo git push | tee log", ["git", "push"]),
        ("cat <<< 'git push'", ["git", "push"]),
    ],
)
def test_static_output_is_read_as_code_where_a_shell_runs_it(producer, expected):
    """Text piped into a shell is a script like any other."""
    assert expected in argvs(f"{producer} | sh")


@pytest.mark.parametrize(
    "producer",
    ["base64 -d x", "rev <<< x", "tr a b <<< x", "cat f", "./gen", "xxd -r -p x", "date"],
)
def test_unknown_output_in_a_shell_is_opaque(producer):
    """What cannot be read is not run unasked."""
    assert "opaque" in risks(f"{producer} | sh")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("x $(which rm)", "rm"),
        ("x $(command -v git)", "git"),
        ("x $(basename /a/b)", "b"),
        ("x $(dirname /a/b)", "/a"),
        ("x $(pwd)", "/workspace"),
        ("x $(git rev-parse --show-toplevel)", "/workspace"),
    ],
)
def test_lookups_are_followed(command, expected):
    """A name that is looked up is still that name."""
    assert argvs(command)[-1] == ["x", expected]
