"""``glovebox preview``: what it refuses; what it does is in tests/e2e/test_preview.py."""

import pytest

from orchestrator.cli.app import COMMANDS
from orchestrator.cli.preview import preview


def test_command_is_on_the_list():
    """Under its own name."""
    assert COMMANDS["preview"][0] == f"{preview.__module__}:preview"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["0123", "0"], "1 to 65535"),
        (["0123", "80", "--listen", "10.0.0.1:80"], "loopback"),
        (["0123", "http"], "valid integer"),
    ],
)
def test_wrong_command_line_ends_with_two(world, arguments, words):
    """Before a session is looked for."""
    ended = world.run("preview", *arguments)

    assert ended.code == 2
    assert words in ended.err
