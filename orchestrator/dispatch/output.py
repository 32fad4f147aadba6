"""Keeping secrets out of every text that leaves a call, and putting them back where they belong.

A placeholder that the model writes back into the file it was read from becomes the secret again;
anywhere else such a write is refused, so that no file ends up holding a placeholder by accident.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from orchestrator.redaction.redactor import Redactor
from orchestrator.redaction.stream import RedactingStream
from orchestrator.schema.codec import decode_message, encode_message
from orchestrator.schema.message import Message
from orchestrator.schema.request import (
    EditRequest,
    FileRequest,
    ReadRequest,
    Replacement,
    Request,
    WriteRequest,
)

_Data = TypeVar("_Data")


class OutputFilter:
    """One session's redaction, in the forms a call needs."""

    def __init__(self, redactor: Redactor) -> None:
        """Redact with ``redactor``, which remembers where secrets were read."""
        self._redactor = redactor

    def scrub(self, text: str) -> str:
        """Return the text without secrets."""
        return self._redactor.redact(text)

    def scrub_data(self, data: _Data) -> _Data:
        """Return JSON data without secrets, in the same shape."""
        return cast("_Data", self._redactor.redact_json(data))

    def scrub_message(self, message: Message) -> Message:
        """Return the message without secrets, fit to store and to send again."""
        return decode_message(self._redactor.redact_json(encode_message(message)))

    def scrub_result(self, request: Request, text: str) -> str:
        """Return a result without secrets, remembering which file each came from."""
        safe = self._redactor.redact(text)
        if isinstance(request, ReadRequest) and request.resolved:
            for placeholder in self._redactor.placeholders_in(safe):
                self._redactor.note_origin(placeholder, request.resolved)
        return safe

    def stream(self, write: Callable[[str], None]) -> RedactingStream:
        """Return a filter for text that comes in pieces."""
        return RedactingStream(self._redactor, write)

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


def _refusal(unknown: Mapping[str, Any] | list[str] | tuple[str, ...], path: str) -> str:
    listed = ", ".join(unknown)
    return (
        f"{path}: the text holds {listed}, which stands for a secret that was not read from this "
        "file. Writing it would leave the placeholder in the file. Leave that part out, or edit "
        "around it."
    )
