"""Changing what the model is told of a message, while the session keeps what was said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orchestrator.errors import UsageError
from orchestrator.schema.codec import decode_message, encode_message
from orchestrator.schema.ids import EntryId
from orchestrator.schema.message import AssistantMessage, Message, ToolMessage
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.store import SessionStore


def edit_context(store: SessionStore, target: EntryId, replacement: Message | None) -> None:
    """Have the model read ``replacement`` in a message's place, or nothing for None.

    The newest edit on a path holds, and the message itself takes its own edit back. Raises
    UsageError for what is no message of the conversation as it stands, and for a replacement that
    would cut calls and results apart.
    """
    edit_contexts(store, ((target, replacement),))


def edit_contexts(store: SessionStore, edits: Iterable[tuple[EntryId, Message | None]]) -> None:
    """Make several such edits, on disk at the end; none where one of them is refused."""
    path = {entry.id: entry for entry in store.tree.path()}
    bodies = [_body(path.get(target), target, told) for target, told in edits]
    for body in bodies:
        store.append("context_edit", body)
    store.sync()


def _body(entry: Entry | None, target: EntryId, replacement: Message | None) -> dict[str, Any]:
    """Return the body of an edit; UsageError for one that cannot be."""
    if entry is None or entry.type != "message":
        raise UsageError(
            f"entry {target!r}: expected a message of the conversation as it stands",
            hint="`glovebox sessions show SESSION` marks those with >",
        )
    old = decode_message(entry.body)
    if replacement is None:
        if isinstance(old, ToolMessage):
            raise UsageError(
                f"entry {target}: results cannot be left out while their calls are told",
                hint="leave out the answer that made the calls, or shorten the results",
            )
    elif type(replacement) is not type(old) or _calls(replacement) != _calls(old):
        raise UsageError(
            f"entry {target}: expected the same speaker and the same calls as before",
            hint="change texts alone",
        )
    return {
        "target": target,
        "replacement": None if replacement is None else encode_message(replacement),
    }


def _calls(message: Message) -> list[str]:
    if isinstance(message, ToolMessage):
        return [result.call for result in message.results]
    if isinstance(message, AssistantMessage):
        return [call.id for call in message.tool_calls]
    return []
