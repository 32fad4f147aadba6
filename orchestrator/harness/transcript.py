"""The loop's transcript, kept in a session file: on disk before anything follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.schema.codec import decode_message, encode_message
from orchestrator.schema.message import AssistantMessage, Message, ToolCall
from orchestrator.sessions.store import SessionStore


class StoredTranscript:
    """The conversation of one session file."""

    def __init__(self, store: SessionStore) -> None:
        """Read from and append to ``store``."""
        self._store = store

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation along the current path, fit to send."""
        return self._store.messages()

    def add(self, message: Message, **facts: Any) -> None:
        """Append a message, with facts beside it, and return when it is on disk."""
        known = {name: fact for name, fact in facts.items() if fact is not None}
        self._store.append("message", {**encode_message(message), **known})
        self._store.sync()

    def hold(self, calls: Sequence[ToolCall]) -> None:
        """Note on disk that calls of the last answer wait for a person; none of them has run."""
        self._note({"waiting": [call.id for call in calls]})

    def take_up(self) -> tuple[ToolCall, ...]:
        """Return the calls that wait, once; noted on disk first, so that none is run twice."""
        waiting = self._waiting()
        if not waiting:
            return ()
        self._note({"taken_up": sorted(waiting)})
        return tuple(call for call in self._last_calls() if call.id in waiting)

    def _waiting(self) -> frozenset[str]:
        """Return the ids that the last note says wait; none where an answer came after it."""
        for entry in reversed(self._store.tree.path()):
            if entry.type == "approval":
                return frozenset(map(str, entry.body.get("waiting") or ()))
            if entry.type == "message" and entry.body["role"] != "user":
                break
        return frozenset()

    def _note(self, body: Mapping[str, Any]) -> None:
        self._store.append("approval", body)
        self._store.sync()

    def _last_calls(self) -> tuple[ToolCall, ...]:
        """Return what the last answer asked for by the ids it is stored with.

        What is told the model has other ids where one came twice, and no result would find them.
        """
        for entry in reversed(self._store.tree.path()):
            if entry.type == "message" and entry.body["role"] == "assistant":
                answer = decode_message(entry.body)
                return answer.tool_calls if isinstance(answer, AssistantMessage) else ()
        return ()
