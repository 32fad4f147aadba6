"""``glovebox shell``: what it refuses; what it does is in tests/e2e/test_terminal.py."""

import pytest

from orchestrator.cli.app import COMMANDS
from orchestrator.cli.shell import shell


def test_command_is_on_the_list():
    """Under its own name."""
    assert COMMANDS["shell"][0] == f"{shell.__module__}:shell"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-C", "notes.txt"], "expected a directory"),
        (["--detach-key", "ctrl-d"], "--detach-key"),
        (["--workspace", "magic"], "--workspace"),
    ],
)
def test_wrong_command_line_opens_nothing(world, arguments, words):
    """Exit code 2, and nothing is written."""
    ended = world.run("shell", *arguments)

    assert ended.code == 2
    assert words in ended.err
    assert not world.state.exists()
