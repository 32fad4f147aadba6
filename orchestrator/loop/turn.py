"""Putting one model message in order before it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.model.projection import valid
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import AssistantMessage, Message, Text, Thinking, ToolCall


class KnownCalls:
    """The ids of a conversation's calls; what it has seen is not looked through again."""

    def __init__(self) -> None:
        """Begin with none."""
        self._taken: set[CallId] = set()
        self._seen = 0
        self._last: Message | None = None

    def of(self, messages: Sequence[Message]) -> set[CallId]:
        """Return the ids in ``messages``; a conversation that only grew is read from where it did."""
        same = 0 < self._seen <= len(messages) and messages[self._seen - 1] is self._last
        if not same:
            self._taken, self._seen = set(), 0
        for message in messages[self._seen :]:
            if isinstance(message, AssistantMessage):
                self._taken.update(call.id for call in message.tool_calls)
        self._seen, self._last = len(messages), messages[-1] if messages else None
        return self._taken


def tidy(message: AssistantMessage, taken: set[CallId]) -> AssistantMessage:
    """Return the message without empty texts and with call ids that are not ``taken``, now they are.

    Some servers send no ids, or the same one twice; a request with such ids would be refused.
    Half a character, which neither file nor request can hold, becomes a visible mark.
    """
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
    return replace(message, content=tuple(parts), stop_word=valid(message.stop_word))


def _unique(wanted: CallId, taken: set[CallId]) -> CallId:
    base = wanted or "call"
    candidate, number = CallId(base), 1
    while not wanted or candidate in taken:
        candidate, wanted = CallId(f"{base}_{number}"), CallId(base)
        number += 1
    return candidate
