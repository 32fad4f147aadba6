"""Files that go away, are replaced or change."""

import pytest

from tests.support.shell_reading import risks


@pytest.mark.parametrize(
    "command",
    [
        "mv src /dev/null",
        "mv /etc/hosts .",
        "mv /workspace x",
        "shred f",
        "kill $(pgrep x)",
        "xargs kill",
    ],
)
def test_loss_by_other_means_is_destructive(command):
    """Moving into nothing and overwriting lose as much as deleting."""
    assert "destructive" in risks(command)


@pytest.mark.parametrize("command", ["mv a b", "mv /tmp/a .", "kill 12", "kill $PID", "cp -r a b"])
def test_plain_moves_and_signals_are_fine(command):
    """Everyday work."""
    assert risks(command) == set()


def test_moving_into_hooks_is_persistence():
    """By any means."""
    assert "persistence" in risks("mv x .git/hooks/pre-push")


@pytest.mark.parametrize(
    "command",
    [
        'tmp=$(mktemp -d); trap \'rm -rf "$tmp"\' EXIT; cp a "$tmp"',
        "tmp=$(mktemp); trap 'rm -f \"$tmp\"' EXIT",
        'tmp=$(mktemp -d) && cd "$tmp" && rm -rf "$tmp"',
        'a=$(mktemp -d); b=$(mktemp -d); mv x "$a"; rm -r "$b"',
    ],
)
def test_a_temporary_path_of_ones_own_is_no_loss(command):
    """Nothing was there before."""
    assert risks(command) == set()


@pytest.mark.parametrize(
    "command",
    [
        "tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT; tmp=/workspace",
        'tmp=$(mktemp -d); trap \'rm -rf "$tmp"\' EXIT; mv src "$tmp"',
        'tmp=$(mktemp -d); mv src "$tmp"; rm -rf "$tmp"',
        'tmp=$(mktemp -d); cd "$tmp"; mv /workspace/src .; rm -rf "$tmp"',
        'tmp=$(mktemp -d); rm -rf "$tmp"/*',
        'tmp=$(mktemp -d); rm -rf "$tmp"/../x',
        'tmp=$(mktemp -d); rm -rf "$tmp"; ln -s /workspace "$tmp"; rm -rf "$tmp"/',
        'tmp=$(mktemp -d); rm -rf "$tmp" src',
        'a=$(mktemp -d); mv src "$a"; b=$(mktemp -d); rm -rf "$a"',
        "rm -rf /tmp/tmp.$X",
    ],
)
def test_what_is_more_than_a_fresh_path_is_lost(command):
    """What was moved into it, what lies beside it, what the name stands for later."""
    assert "destructive" in risks(command)
