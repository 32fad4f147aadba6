"""The tool that replaces texts in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field, model_validator

from orchestrator.schema.message import ToolDefinition
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import EditRequest, Replacement, Request
from orchestrator.tools.answer import Answer, render_answer
from orchestrator.tools.arguments import Arguments, input_schema, parse_arguments
from orchestrator.tools.location import NonEmpty, locate
from orchestrator.tools.plain import plain_content
from orchestrator.tools.tool import Rendered, ToolContext

_TEXTS = ("oldText", "newText")


class EditItem(Arguments):
    """One replacement."""

    old_text: str
    new_text: str


class EditArguments(Arguments):
    """Fields of ``edit``."""

    path: NonEmpty
    edits: list[EditItem] = Field(min_length=1, max_length=200)
    replace_all: bool = False

    @model_validator(mode="before")
    @classmethod
    def _take_other_forms(cls, data: Any) -> Any:
        """Take the forms models slip into: the two texts at the top, one object, a JSON string."""
        if not isinstance(data, Mapping):
            return data
        edits = data.get("edits")
        if edits is None and any(name in data for name in _TEXTS):
            item = {name: data[name] for name in _TEXTS if name in data}
            rest = {name: data[name] for name in data if name not in (*_TEXTS, "edits")}
            return {**rest, "edits": [item]}
        if isinstance(edits, str):
            edits = _decoded(edits)
        return {**data, "edits": [edits] if isinstance(edits, Mapping) else edits}


class EditAnswer(Answer):
    """What was replaced."""

    replacements: int
    lines: list[int]
    diff: str


class EditTool:
    """Edits one file."""

    @property
    def definition(self) -> ToolDefinition:
        """Return the tool as the model sees it."""
        return ToolDefinition(
            "edit",
            "Replace exact texts in one file. Each oldText is matched against the file as it is "
            "before the call and must occur exactly once (or set replaceAll): copy it with its "
            "whitespace, and enough lines to be unique. Edits must not overlap; all are made or "
            "none.",
            input_schema(EditArguments),
        )

    def plan(self, arguments: Mapping[str, Any], context: ToolContext) -> Request:
        """Return the replacements to make."""
        fields = parse_arguments(EditArguments, "edit", arguments)
        edits = tuple(Replacement(item.old_text, item.new_text) for item in fields.edits)
        return EditRequest(locate(fields.path, context), edits, replace_all=fields.replace_all)

    def render(self, request: Request, outcome: Outcome) -> Rendered:
        """Return one line for the model and the diff for the person."""
        path = request.path if isinstance(request, EditRequest) else "the file"

        def put(answer: EditAnswer) -> Rendered:
            details = {
                "path": path,
                "replacements": answer.replacements,
                "first_line": min(answer.lines, default=1),
                "diff": plain_content(answer.diff),
            }
            count = answer.replacements
            return Rendered(f"made {count} replacement{'s' * (count != 1)} in {path}", details)

        return render_answer(outcome, EditAnswer, put)


def _decoded(edits: str) -> Any:
    try:
        return json.loads(edits)
    except (ValueError, RecursionError):
        # Left as it is: the check then says what was expected.
        return edits
