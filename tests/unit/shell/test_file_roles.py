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
