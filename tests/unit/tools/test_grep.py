from __future__ import annotations

from typing import Any

from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import GrepRequest
from orchestrator.tools.grep import GrepTool
from orchestrator.tools.tool import ToolContext

REQUEST = GrepRequest("x", "/workspace")


def line(number: int, text: str, **fields: Any) -> dict[str, Any]:
    return {"path": "a.py", "line": number, "text": text, "cut": False, "context": False, **fields}


def test_plan_has_every_field(context: ToolContext) -> None:
    """What the model says is what is searched."""
    arguments = {
        "pattern": "--pre=x",
        "path": "src",
        "glob": "*.py",
        "literal": True,
        "ignoreCase": True,
        "context": 2,
        "limit": 7,
    }

    planned = GrepTool().plan(arguments, context)

    assert planned == GrepRequest("--pre=x", "/workspace/src", "*.py", True, True, 2, 7)
    assert GrepTool().plan({"pattern": "x"}, context) == GrepRequest("x", "/workspace")


def test_matches_and_context_have_their_marks() -> None:
    """A colon for a match, a dash around it."""
    matches = [line(1, "before", context=True), line(2, "match\t\x1b[1m")]

    rendered = GrepTool().render(
        REQUEST, Outcome({"matches": matches, "total": 1, "limited": False, "notes": []})
    )

    assert rendered.output == "a.py-1- before\na.py:2: match\t\u241b[1m"


def test_cut_lines_and_a_cut_list_say_so() -> None:
    """And what to do about it."""
    matches = [line(1, "x" * 5, cut=True, length=900)]

    rendered = GrepTool().render(
        REQUEST, Outcome({"matches": matches, "total": 1, "limited": True, "notes": ["a note"]})
    )

    first, notice, note = rendered.output.split("\n")
    assert first == "a.py:1: xxxxx [cut: 5 of 900 characters]"
    assert "narrow pattern" in notice
    assert note == "[a note]"
    assert rendered.details == {"matches": 1, "limited": True}


def test_no_match_is_said_and_no_error() -> None:
    """Not found is an answer."""
    rendered = GrepTool().render(
        REQUEST, Outcome({"matches": [], "total": 0, "limited": False, "notes": []})
    )

    assert (rendered.output, rendered.is_error) == ("(no match)", False)
