from __future__ import annotations

from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import WriteRequest
from orchestrator.tools.tool import ToolContext
from orchestrator.tools.write import WriteTool


def test_plan_keeps_the_content_as_it_is(context: ToolContext) -> None:
    """Not a byte is added."""
    content = "\ufeffa\r\nb \0"

    planned = WriteTool().plan({"path": "a", "content": content}, context)

    assert planned == WriteRequest("/workspace/a", content)


def test_empty_content_is_content(context: ToolContext) -> None:
    """A file may be empty."""
    assert WriteTool().plan({"path": "a", "content": ""}, context) == WriteRequest(
        "/workspace/a", ""
    )


def test_model_gets_a_line_and_the_person_the_diff() -> None:
    """The model knows what it wrote."""
    outcome = Outcome({"bytes": 4, "created": True, "diff": "+one\x1b[2J\n"})

    rendered = WriteTool().render(WriteRequest("/workspace/a", "one\n"), outcome)

    assert rendered.output == "created /workspace/a (4 bytes)"
    assert rendered.details["diff"] == "+one\u241b[2J\n"
