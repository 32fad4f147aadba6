from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.cli.app import COMMANDS, load_command


def walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from walk(inner, f"{path} {name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_command_explains_itself(name):
    """Every command, and every option of it, says what it does."""
    silent = []
    for path, command in walk(load_command(name), name):
        if not (command.help or "").strip():
            silent.append(path)
        silent += [
            f"{path} {parameter.name}"
            for parameter in command.params
            if parameter.param_type_name == "option" and not (parameter.help or "").strip()
        ]

    assert silent == []
