from __future__ import annotations

from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import ListRequest
from orchestrator.tools.ls import ListTool
from orchestrator.tools.tool import ToolContext

REQUEST = ListRequest("/workspace")


def test_plan_lists_the_workspace_by_default(context: ToolContext) -> None:
    """No argument is needed."""
    assert ListTool().plan({}, context) == REQUEST


def test_every_type_has_its_form() -> None:
    """A slash, a size, a target, or the kind in words."""
    entries = [
        {"name": "d", "type": "directory", "size": 0},
        {"name": "f", "type": "file", "size": 5},
        {"name": "l", "type": "link", "size": 1, "target": "f"},
        {"name": "p", "type": "a named pipe", "size": 0},
    ]
    data = {"entries": entries, "total": 9, "limited": True, "notes": ["A and a differ"]}

    rendered = ListTool().render(REQUEST, Outcome(data))

    assert rendered.output.split("\n") == [
        "d/",
        "f (5 bytes)",
        "l -> f",
        "p (a named pipe)",
        "[first 4 of 9 entries; raise limit]",
        "[note: A and a differ]",
    ]


def test_empty_directory_is_said() -> None:
    """Never an empty result."""
    data = {"entries": [], "total": 0, "limited": False, "notes": []}

    assert ListTool().render(REQUEST, Outcome(data)).output == "(the directory is empty)"
