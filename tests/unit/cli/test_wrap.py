"""``glovebox wrap``: what it refuses; what it does is in tests/e2e/test_wrap.py."""

import pytest

from orchestrator.cli.app import COMMANDS
from orchestrator.cli.wrap import wrap


def test_command_is_on_the_list():
    """Under its own name."""
    assert COMMANDS["wrap"][0] == f"{wrap.__module__}:wrap"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["--", ""], "empty word"),
        (["-C", "notes.txt", "--", "true"], "expected a directory"),
        (["--max-time", "soon", "--", "true"], "--max-time"),
        (["--detach-key", "ctrl-d", "--", "true"], "--detach-key"),
        (["--env", "1=2", "--", "true"], "--env"),
        (["--home", "nowhere", "--", "true"], "--home nowhere"),
    ],
)
def test_wrong_command_line_opens_nothing(world, arguments, words):
    """Exit code 2, and nothing is written."""
    ended = world.run("wrap", *arguments)

    assert ended.code == 2
    assert words in ended.err
    assert not world.state.exists()
