"""The tool that finds paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from orchestrator.schema.message import ToolDefinition
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import FindRequest, Request
from orchestrator.tools.answer import Answer, render_answer
from orchestrator.tools.arguments import Arguments, input_schema, parse_arguments
from orchestrator.tools.location import NonEmpty, locate
from orchestrator.tools.plain import plain_content
from orchestrator.tools.tool import Rendered, ToolContext


class FindArguments(Arguments):
    """Fields of ``find``."""

    pattern: NonEmpty = Field(description="glob, such as *.py or src/**/test_*")
    path: NonEmpty = "."
    limit: int = Field(default=1000, ge=1, le=5000)


class FindAnswer(Answer):
    """What was found."""

    paths: list[str]
    total: int
    limited: bool
    notes: tuple[str, ...] = ()


class FindTool:
    """Finds files and directories below one directory."""

    @property
    def definition(self) -> ToolDefinition:
        """Return the tool as the model sees it."""
        return ToolDefinition(
            "find",
            "Find files by glob. Respects .gitignore.",
            input_schema(FindArguments),
        )

    def plan(self, arguments: Mapping[str, Any], context: ToolContext) -> Request:
        """Return the search."""
        fields = parse_arguments(FindArguments, "find", arguments)
        return FindRequest(fields.pattern, locate(fields.path, context), limit=fields.limit)

    def render(self, request: Request, outcome: Outcome) -> Rendered:  # noqa: ARG002 - as Tool has it
        """Return a path a line."""
        return render_answer(outcome, FindAnswer, _render)


def _render(answer: FindAnswer) -> Rendered:
    lines = [plain_content(path) for path in answer.paths] or ["(no file matches)"]
    if answer.limited:
        lines.append(
            f"[first {answer.total} paths; there are more: narrow pattern or path, or raise limit]"
        )
    lines += [f"[{plain_content(note)}]" for note in answer.notes]
    return Rendered("\n".join(lines), {"paths": answer.total, "limited": answer.limited})
