import os
from pathlib import Path

import pytest

from orchestrator.errors import ConfigError
from orchestrator.model.script_file import load_script, parse_script

WHOLE = """
version: 1
model: {name: scripted-1, context_window: 200000, max_output: 8192}
turns:
  - text: "Looking at the file."
    tool_calls:
      - {name: read, arguments: {path: app.py}}
  - tool_calls: [{name: bash, raw_arguments: '{"command": "ls'}]
    stop_reason: max_tokens
  - error: {status: 529, type: overloaded_error, retry_after: 0}
  - text: "Done."
    usage: {input: 1200, output: 40}
conclusion: I had to stop.
summaries: [one, two]
"""


def test_documented_script_is_read_whole() -> None:
    """Every key of the design's example has its place."""
    script = parse_script(WHOLE, "demo.yaml")
    assert script.turns[0].tool_calls[0].arguments == {"path": "app.py"}
    assert script.turns[1].tool_calls[0].raw_arguments == '{"command": "ls'
    assert script.turns[2].error is not None
    assert script.turns[2].error.status == 529
    assert script.turns[3].usage.input == 1200
    assert script.conclusion == ["I had to stop."]
    assert script.summaries == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("version: 2\nturns: []\n", "s.yaml:1: version"),
        ("version: 1\n", "s.yaml:1: turns"),
        ("version: 1\nturns:\n  - txt: hello\n", "s.yaml:3: turns.0.txt"),
        ("version: 1\nturns:\n  - text: a\n  - tool_calls:\n      - nam: x\n", "s.yaml:5:"),
        ("version: 1\nturns:\n  - stop_reason: tired\n", "s.yaml:3: turns.0.stop_reason"),
        ("version: 1\nturns:\n  - usage: {input: -1}\n", "s.yaml:3: turns.0.usage.input"),
        ("version: 1\nturns: []\nturns: []\n", "s.yaml:3: turns: given twice"),
        ("version: 1\nturns: [\n", "s.yaml:3:"),
        ("- 1\n", "s.yaml:1:"),
        ("", "s.yaml:1:"),
        ("version: 1\nturns:\n  - text: 5\n", "s.yaml:3: turns.0.text"),
        ("version: 1\nturns:\n  - {error: {status: 500}, text: a}\n", "s.yaml:3: turns.0"),
        (
            "version: 1\nturns:\n  - tool_calls:\n      - {name: a, arguments: {}, raw_arguments: ''}",
            "s.yaml:4: turns.0.tool_calls.0",
        ),
    ],
)
def test_mistake_is_told_with_its_line(text: str, place: str) -> None:
    """A script's author is led to the line."""
    with pytest.raises(ConfigError) as caught:
        parse_script(text, "s.yaml")
    assert caught.value.message.startswith(place)


def test_yaml_tags_build_no_objects() -> None:
    """A script is data, whoever wrote it."""
    with pytest.raises(ConfigError):
        parse_script("version: 1\nturns: !!python/object/apply:os.getcwd []\n", "s.yaml")


def test_file_that_is_missing_is_named(tmp_path: Path) -> None:
    """A wrong path is told with the path."""
    with pytest.raises(ConfigError, match=r"absent\.yaml"):
        load_script(tmp_path / "absent.yaml")


def test_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    """Nobody writes to it, and a run would never begin."""
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ConfigError, match="expected a regular file, got a named pipe"):
        load_script(tmp_path / "pipe")


def test_file_is_read(tmp_path: Path) -> None:
    """The file's own path stands in its errors."""
    path = tmp_path / "s.yaml"
    path.write_text("version: 1\nturns: [{text: hi}]\n")
    assert load_script(path).turns[0].text == "hi"
    path.write_text("version: 3\n")
    with pytest.raises(ConfigError, match=str(path)):
        load_script(path)
