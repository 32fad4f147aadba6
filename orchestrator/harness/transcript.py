"""The loop's transcript, kept in a session file: on disk before anything follows from it."""

from __future__ import annotations

from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import Message
from orchestrator.sessions.store import SessionStore


class StoredTranscript:
    """The conversation of one session file."""

    def __init__(self, store: SessionStore) -> None:
        """Read from and append to ``store``."""
        self._store = store

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation along the current path, fit to send."""
        return self._store.messages()

    def add(self, message: Message) -> None:
        """Append a message and return when it is on disk."""
        self._store.append("message", encode_message(message))
        self._store.sync()
