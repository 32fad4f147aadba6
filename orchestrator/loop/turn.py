"""Putting one model message in order before it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.model.prices import cost_of
from orchestrator.model.projection import valid
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import AssistantMessage, Message, Text, Thinking, ToolCall

__all__ = ["cost_of", "tidy"]


def tidy(message: AssistantMessage, before: Sequence[Message]) -> AssistantMessage:
    """Return the message without empty texts and with call ids unique in the conversation.

    Some servers send no ids, or the same one twice; a request with such ids would be refused.
    Half a character, which neither file nor request can hold, becomes a visible mark.
    """
    taken = {
        call.id for old in before if isinstance(old, AssistantMessage) for call in old.tool_calls
    }
    parts: list[Text | Thinking | ToolCall] = []
    for part in message.content:
        if isinstance(part, Text) and not part.text:
            continue
        if isinstance(part, ToolCall):
            fresh = _unique(part.id, taken)
            taken.add(fresh)
            name, raw = valid(part.name), valid(part.raw_arguments)
            parts.append(replace(part, id=fresh, name=name, raw_arguments=raw))
        else:
            parts.append(replace(part, text=valid(part.text)))
    return replace(message, content=tuple(parts))


def _unique(wanted: CallId, taken: set[CallId]) -> CallId:
    base = wanted or "call"
    candidate, number = CallId(base), 1
    while not wanted or candidate in taken:
        candidate, wanted = CallId(f"{base}_{number}"), CallId(base)
        number += 1
    return candidate
