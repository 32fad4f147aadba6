from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.errors import ConfigError
from orchestrator.tools import BUILTIN_NAMES, DEFAULT_NAMES, builtin_tools

ROOT = Path(__file__).parents[3]


def test_default_is_the_four() -> None:
    """The other three say nothing that bash could not."""
    assert [tool.definition.name for tool in builtin_tools()] == ["read", "write", "edit", "bash"]


def test_tools_come_in_the_order_named_each_once() -> None:
    """The order is part of a cached prefix."""
    tools = builtin_tools(["ls", "read", "ls"])

    assert [tool.definition.name for tool in tools] == ["ls", "read"]


def test_unknown_name_is_refused_with_the_list() -> None:
    """A misspelt tool is no missing one."""
    with pytest.raises(ConfigError) as error:
        builtin_tools(["reed"])

    assert "did you mean read?" in error.value.message
    assert all(name in error.value.hint for name in BUILTIN_NAMES)


def test_every_definition_is_named_as_registered() -> None:
    """One name, one tool, an object schema."""
    for name in BUILTIN_NAMES:
        (tool,) = builtin_tools([name])
        assert tool.definition.name == name
        assert tool.definition.input_schema["type"] == "object"
        assert tool.definition.description.endswith(".")


def test_prompt_and_default_tools_cost_under_a_thousand_tokens() -> None:
    """Counted by tiktoken's o200k_base; every request carries them, ``process`` where it is on."""
    done = subprocess.run(
        [sys.executable, "benchmarks/tokens.py", "--json"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )

    counts = json.loads(done.stdout)
    assert set(DEFAULT_NAMES) < set(counts)
    assert 200 < counts["total"] < 1000
    assert 100 < counts["process"] < 150
