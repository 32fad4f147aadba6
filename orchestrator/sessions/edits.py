"""Changing what the model is told of a message, while the session keeps what was said."""

from __future__ import annotations

from orchestrator.errors import UsageError
from orchestrator.schema.codec import decode_message, encode_message
from orchestrator.schema.ids import EntryId
from orchestrator.schema.message import AssistantMessage, Message, ToolMessage
from orchestrator.sessions.store import SessionStore


def edit_context(store: SessionStore, target: EntryId, replacement: Message | None) -> None:
    """Have the model read ``replacement`` in a message's place, or nothing for None.

    The newest edit on a path holds, and the message itself takes its own edit back. Raises
    UsageError for what is no message of the conversation as it stands, and for a replacement that
    would cut calls and results apart.
    """
    entry = store.tree.by_id.get(target)
    if entry is None or entry.type != "message" or entry not in store.tree.path():
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
    body = None if replacement is None else encode_message(replacement)
    store.append("context_edit", {"target": target, "replacement": body})
    store.sync()


def _calls(message: Message) -> list[str]:
    if isinstance(message, ToolMessage):
        return [result.call for result in message.results]
    if isinstance(message, AssistantMessage):
        return [call.id for call in message.tool_calls]
    return []
