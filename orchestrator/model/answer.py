"""The last step of every adapter: streamed pieces become one well-formed message."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from orchestrator.model.call_ids import unused_id
from orchestrator.model.client import ModelInfo
from orchestrator.schema.codec import parse_arguments
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    Usage,
)

MANY = 2
_DECODER = json.JSONDecoder()


@dataclass(slots=True)
class CallPieces:
    """A tool call while it streams."""

    id: str = ""
    name: str = ""
    arguments: str = ""
    signature: str | None = None
    """Its provider's opaque mark (Gemini)."""


Piece = Text | Thinking | CallPieces


def assemble(
    pieces: Iterable[Piece],
    stop: StopReason,
    usage: Usage,
    *,
    info: ModelInfo,
    before: Iterable[Message],
    stop_word: str = "",
) -> AssistantMessage:
    """Return the message; its call ids are neither empty nor used in ``before``.

    ``stop_word``: the provider's own for the end, where nobody foresaw it.
    """
    taken = {
        call.id for old in before if isinstance(old, AssistantMessage) for call in old.tool_calls
    }
    parts: list[Text | Thinking | ToolCall] = []
    for piece in pieces:
        if isinstance(piece, CallPieces):
            fresh = unused_id(CallId(piece.id), taken)
            taken.add(fresh)
            raw = single(piece.arguments)
            parts.append(ToolCall(fresh, piece.name, raw, parse_arguments(raw), piece.signature))
        elif isinstance(piece, Thinking) or piece.text:
            parts.append(piece)
    calls = any(isinstance(part, ToolCall) for part in parts)
    settled = _settled(stop, calls=calls)
    return AssistantMessage(tuple(parts), settled, usage, info.id, stop_word)


def single(raw: str) -> str:
    """Return the one object where a server sent it twice, or an empty one before it."""
    if parse_arguments(raw) is not None:
        return raw
    values: list[Any] = []
    at, end = 0, len(raw.rstrip())
    while at < end:
        try:
            value, at = _DECODER.raw_decode(raw, at)
        except (ValueError, RecursionError):
            return raw
        values.append(value)
    kinds = [value for number, value in enumerate(values) if value not in values[:number]]
    told = [value for value in kinds if value != {}]
    if len(values) < MANY or len(told) > 1 or not all(isinstance(v, dict) for v in kinds):
        return raw
    return json.dumps(told[0] if told else {}, ensure_ascii=False)


def _settled(stop: StopReason, *, calls: bool) -> StopReason:
    """Some servers say ``stop`` after a call, some ``tool_calls`` without one."""
    if stop == "end_turn" and calls:
        return "tool_use"
    if stop == "tool_use" and not calls:
        return "end_turn"
    return stop
