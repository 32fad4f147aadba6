"""The tool that lists a directory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from orchestrator.schema.message import ToolDefinition
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import ListRequest, Request
from orchestrator.tools.answer import Answer, render_answer
from orchestrator.tools.arguments import Arguments, input_schema, parse_arguments
from orchestrator.tools.location import NonEmpty, locate
from orchestrator.tools.plain import plain_content
from orchestrator.tools.tool import Rendered, ToolContext


class ListArguments(Arguments):
    """Fields of ``ls``."""

    path: NonEmpty = "."
    limit: int = Field(default=500, ge=1, le=2000)


class ListedEntry(Answer):
    """One entry."""

    name: str
    type: str
    size: int
    target: str = ""


class ListAnswer(Answer):
    """What a directory holds."""

    entries: list[ListedEntry]
    total: int
    limited: bool
    notes: tuple[str, ...] = ()


class ListTool:
    """Lists one directory."""

    @property
    def definition(self) -> ToolDefinition:
        """Return the tool as the model sees it."""
        return ToolDefinition(
            "ls",
            "List a directory with sizes. Unusual characters in names are shown as escapes "
            r"such as \n or \xff, which every path takes back.",
            input_schema(ListArguments),
        )

    def plan(self, arguments: Mapping[str, Any], context: ToolContext) -> Request:
        """Return the listing to make."""
        fields = parse_arguments(ListArguments, "ls", arguments)
        return ListRequest(locate(fields.path, context), limit=fields.limit)

    def render(self, request: Request, outcome: Outcome) -> Rendered:  # noqa: ARG002 - as Tool has it
        """Return an entry a line: a slash marks a directory, a link names its target."""
        return render_answer(outcome, ListAnswer, _render)


def _render(answer: ListAnswer) -> Rendered:
    lines = [_line(entry) for entry in answer.entries] or ["(the directory is empty)"]
    if answer.limited:
        lines.append(f"[first {len(answer.entries)} of {answer.total} entries; raise limit]")
    lines += [f"[note: {plain_content(note)}]" for note in answer.notes]
    return Rendered("\n".join(lines), {"entries": answer.total, "limited": answer.limited})


def _line(entry: ListedEntry) -> str:
    name = plain_content(entry.name)
    if entry.type == "directory":
        return f"{name}/"
    if entry.type == "file":
        return f"{name} ({entry.size} bytes)"
    if entry.type == "link":
        return f"{name} -> {plain_content(entry.target)}"
    return f"{name} ({plain_content(entry.type)})"
