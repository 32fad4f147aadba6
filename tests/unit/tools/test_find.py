from __future__ import annotations

from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import FindRequest
from orchestrator.tools.find import FindTool
from orchestrator.tools.tool import ToolContext

REQUEST = FindRequest("*", "/workspace")


def test_plan_has_every_field(context: ToolContext) -> None:
    """Defaults are the request's own."""
    assert FindTool().plan({"pattern": "*"}, context) == REQUEST
    assert FindTool().plan({"pattern": "*", "path": "a", "limit": 5}, context) == FindRequest(
        "*", "/workspace/a", 5
    )


def test_paths_stand_one_a_line_with_a_notice_when_cut() -> None:
    """A count that is no total is not called one."""
    data = {"paths": ["a", r"b\n"], "total": 2, "limited": True, "notes": []}

    rendered = FindTool().render(REQUEST, Outcome(data))

    assert rendered.output.startswith("a\n" + r"b\n" + "\n[first 2 paths; there are more")


def test_nothing_found_is_said() -> None:
    """Not found is an answer."""
    data = {"paths": [], "total": 0, "limited": False}

    assert FindTool().render(REQUEST, Outcome(data)).output == "(no file matches)"
