"""The tool that searches file contents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from orchestrator.schema.message import ToolDefinition
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import GrepRequest, Request
from orchestrator.tools.answer import Answer, render_answer
from orchestrator.tools.arguments import Arguments, input_schema, parse_arguments
from orchestrator.tools.location import NonEmpty, locate
from orchestrator.tools.plain import plain_content
from orchestrator.tools.tool import Rendered, ToolContext


class GrepArguments(Arguments):
    """Fields of ``grep``."""

    pattern: NonEmpty
    path: NonEmpty = "."
    glob: NonEmpty | None = Field(default=None, description="such as *.py")
    literal: bool = False
    ignore_case: bool = False
    context: int = Field(default=0, ge=0, le=20, description="lines around a match")
    limit: int = Field(default=100, ge=1, le=2000)


class MatchedLine(Answer):
    """A line that matches, or one around it."""

    path: str
    line: int
    text: str
    cut: bool = False
    context: bool = False
    length: int = 0


class GrepAnswer(Answer):
    """What was found."""

    matches: list[MatchedLine]
    total: int
    limited: bool
    notes: tuple[str, ...] = ()


class GrepTool:
    """Searches below one directory, or in one file."""

    @property
    def definition(self) -> ToolDefinition:
        """Return the tool as the model sees it."""
        return ToolDefinition(
            "grep",
            "Search file contents by regular expression (ripgrep). Respects .gitignore.",
            input_schema(GrepArguments),
        )

    def plan(self, arguments: Mapping[str, Any], context: ToolContext) -> Request:
        """Return the search."""
        fields = parse_arguments(GrepArguments, "grep", arguments)
        return GrepRequest(
            fields.pattern,
            locate(fields.path, context),
            glob=fields.glob,
            literal=fields.literal,
            ignore_case=fields.ignore_case,
            context=fields.context,
            limit=fields.limit,
        )

    def render(self, request: Request, outcome: Outcome) -> Rendered:  # noqa: ARG002 - as Tool has it
        """Return ``path:line: text`` lines; ``path-line- text`` for those around a match."""
        return render_answer(outcome, GrepAnswer, _render)


def _render(answer: GrepAnswer) -> Rendered:
    lines = [_line(match) for match in answer.matches] or ["(no match)"]
    if answer.limited:
        lines.append(
            f"[first {answer.total} matches; there are more: "
            "narrow pattern, path or glob, or raise limit]"
        )
    lines += [f"[{plain_content(note)}]" for note in answer.notes]
    return Rendered("\n".join(lines), {"matches": answer.total, "limited": answer.limited})


def _line(match: MatchedLine) -> str:
    mark = "-" if match.context else ":"
    text = plain_content(match.text)
    if match.cut:
        text += f" [cut: {len(match.text)} of {match.length} characters]"
    return f"{plain_content(match.path)}{mark}{match.line}{mark} {text}"
