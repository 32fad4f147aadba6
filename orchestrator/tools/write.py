"""The tool that writes a whole file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.schema.message import ToolDefinition
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import Request, WriteRequest
from orchestrator.tools.answer import Answer, render_answer
from orchestrator.tools.arguments import Arguments, input_schema, parse_arguments
from orchestrator.tools.location import NonEmpty, locate
from orchestrator.tools.plain import plain_content
from orchestrator.tools.tool import Rendered, ToolContext


class WriteArguments(Arguments):
    """Fields of ``write``."""

    path: NonEmpty
    content: str


class WriteAnswer(Answer):
    """What was written."""

    bytes: int
    created: bool
    diff: str


class WriteTool:
    """Writes one file."""

    @property
    def definition(self) -> ToolDefinition:
        """Return the tool as the model sees it."""
        return ToolDefinition(
            "write",
            "Create a file or replace its whole content. Missing directories are made.",
            input_schema(WriteArguments),
        )

    def plan(self, arguments: Mapping[str, Any], context: ToolContext) -> Request:
        """Return the content to put there."""
        fields = parse_arguments(WriteArguments, "write", arguments)
        return WriteRequest(locate(fields.path, context), fields.content)

    def render(self, request: Request, outcome: Outcome) -> Rendered:
        """Return one line for the model and the diff for the person."""
        path = request.path if isinstance(request, WriteRequest) else "the file"

        def put(answer: WriteAnswer) -> Rendered:
            done = "created" if answer.created else "replaced"
            details = {
                "path": path,
                "bytes": answer.bytes,
                "created": answer.created,
                "diff": plain_content(answer.diff),
            }
            return Rendered(f"{done} {path} ({answer.bytes} bytes)", details)

        return render_answer(outcome, WriteAnswer, put)
