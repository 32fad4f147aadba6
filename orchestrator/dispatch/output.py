"""Keeping secrets out of every text that leaves a call, and putting them back where they belong.

A placeholder that the model writes back into the file it was read from becomes the secret again;
anywhere else such a write is refused, so that no file ends up holding a placeholder by accident.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from orchestrator.redaction.redactor import Redactor
from orchestrator.redaction.stream import RedactingStream
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from orchestrator.schema.request import (
    EditRequest,
    FileRequest,
    ReadRequest,
    Replacement,
    Request,
    WriteRequest,
)

_Data = TypeVar("_Data")


HELD = 4
"""Characters of what may be a secret's beginning from which they are held back."""
_CONTEXT = 1024
_SLACK = 65_536


@dataclass(frozen=True, slots=True)
class Seam:
    """Where one answer about a process ended and the next may go on."""

    place: int = -1
    """In bytes of the whole output."""
    seen: str = ""
    held: str = ""


BEGINNING = Seam()
"""Of the output, and of all that does not go on where the last answer ended."""


class OutputFilter:
    """One session's redaction, in the forms a call needs."""

    def __init__(self, redactor: Redactor) -> None:
        """Redact with ``redactor``, which remembers where secrets were read."""
        self._redactor = redactor

    def learn(self, known: Mapping[str, str]) -> None:
        """Keep further values out from now on, each by its name."""
        self._redactor.learn(known)

    def scrub(self, text: str) -> str:
        """Return the text without secrets."""
        return self._redactor.redact(text)

    def scrub_data(self, data: _Data) -> _Data:
        """Return JSON data without secrets, in the same shape."""
        return cast("_Data", self._redactor.redact_json(data))

    def scrub_piece(self, data: Mapping[str, Any], seam: Seam) -> tuple[str, Seam]:
        """Return what a process printed without secrets, also those that two answers share.

        What may be the beginning of a known secret is held back until it is known.
        """
        follows = data["start"] == seam.place
        before, text = (seam.seen, seam.held) if follows else ("", "")
        text += data["text"]
        whole = before + text
        end = len(whole)
        cut = self._redactor.open_tail(whole)
        if (data["running"] or data["more"]) and end - cut >= HELD:
            end = max(len(before), cut)
        safe, end = self._redactor.redact_between(whole, len(before), end, slack=_SLACK)
        return safe, Seam(data["next"], whole[max(0, end - _CONTEXT) : end], whole[end:])

    def scrub_message(self, message: Message) -> Message:
        """Return the message without secrets, fit to store and to send again."""
        if isinstance(message, UserMessage):
            return UserMessage(tuple(self._said(part) for part in message.content))
        if isinstance(message, AssistantMessage):
            return replace(message, content=tuple(self._answered(p) for p in message.content))
        return ToolMessage(tuple(self._told(result) for result in message.results))

    def scrub_result(self, request: Request, text: str) -> str:
        """Return a result without secrets, remembering which file each came from."""
        if isinstance(request, ReadRequest) and request.resolved:
            return self._redactor.redact_read(text, request.resolved)
        return self._redactor.redact(text)

    def _said(self, part: Text | Image) -> Text | Image:
        return Text(self.scrub(part.text)) if isinstance(part, Text) else part

    def _told(self, result: ToolResult) -> ToolResult:
        return replace(result, name=self.scrub(result.name), output=self.scrub(result.output))

    def _answered(self, part: Text | Thinking | ToolCall) -> Text | Thinking | ToolCall:
        if isinstance(part, ToolCall):
            return self._called(part)
        safe = self.scrub(part.text)
        mark = self._mark(part.signature, is_same=safe == part.text)
        return replace(part, text=safe, signature=mark)

    def _called(self, call: ToolCall) -> ToolCall:
        """Return the call without secrets; the id stays, since results are found by it."""
        name, raw = self.scrub(call.name), self.scrub(call.raw_arguments)
        arguments = self.scrub_data(call.arguments)
        is_same = (name, arguments, raw) == (call.name, call.arguments, call.raw_arguments)
        if arguments is not None and not is_same:
            raw = json.dumps(arguments)
        return ToolCall(call.id, name, raw, arguments, self._mark(call.signature, is_same=is_same))

    def _mark(self, signature: str | None, *, is_same: bool) -> str | None:
        """Return a provider's mark; None where it, or what it signs, was changed.

        The provider refuses its mark under another text.
        """
        return signature if is_same and self.scrub(signature or "") == (signature or "") else None

    def stream(self, write: Callable[[str], None]) -> RedactingStream:
        """Return a filter for text that comes in pieces."""
        return RedactingStream(self._redactor, write)

    def placeholders_in(self, text: str) -> tuple[str, ...]:
        """Return the placeholders of this session that a text holds."""
        return self._redactor.placeholders_in(text)

    def restore(self, request: FileRequest, landed: str) -> tuple[FileRequest, str]:
        """Return the request with its placeholders restored, or the reason it is refused."""
        texts = _texts(request)
        restored = []
        for text in texts:
            plain, unknown = self._redactor.restore(text, landed)
            if unknown:
                return request, _refusal(unknown, request.path)
            restored.append(plain)
        return _with_texts(request, restored), ""


def _texts(request: FileRequest) -> list[str]:
    if isinstance(request, WriteRequest):
        return [request.content]
    if isinstance(request, EditRequest):
        return [text for edit in request.edits for text in (edit.old, edit.new)]
    return []


def _with_texts(request: FileRequest, texts: list[str]) -> FileRequest:
    if isinstance(request, WriteRequest):
        return replace(request, content=texts[0])
    if isinstance(request, EditRequest):
        pairs = zip(texts[::2], texts[1::2], strict=True)
        return replace(request, edits=tuple(Replacement(old, new) for old, new in pairs))
    return request


def _refusal(unknown: Iterable[str], path: str) -> str:
    listed = ", ".join(unknown)
    return (
        f"{path}: the text holds {listed}, which stands for a secret that was not read from this "
        "file. Writing it would leave the placeholder in the file. Leave that part out, or edit "
        "around it."
    )
