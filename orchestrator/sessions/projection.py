"""A path of entries to the messages a model may be sent, pure.

Whatever the file holds, the result answers each tool call once, directly after its turn: missing
results are made up as interrupted, late ones pulled up, doubles and strays dropped. So no history
can make every later request fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.schema.codec import decode_message
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from orchestrator.sessions.entry import Entry

INTERRUPTED = (
    "This call was interrupted before its result was recorded. It may or may not have taken "
    "effect: check the current state before you repeat it."
)
NO_OUTPUT = "(no output)"
LEADS = {
    "compaction": "[What was said before this was summarised, to save room. The summary:]",
    "branch_summary": (
        "[The conversation went another way first and came back to here. What happened there, and "
        "may still be in the files:]"
    ),
}
"""What stands before a summary, so that the model does not take it for the person's own words."""

Decode = Callable[[Mapping[str, Any]], Message]


@dataclass(frozen=True, slots=True)
class Seen:
    """One entry that is told the model, and what is told of it."""

    entry: Entry
    message: Message
    edited: bool = False
    """It was shortened for the model; the file keeps it whole."""


def project(path: Sequence[Entry]) -> tuple[Message, ...]:
    """Return the messages along a path, root first."""
    return repair(seen.message for seen in visible(path))


def repair(messages: Iterable[Message], ids: set[CallId] | None = None) -> tuple[Message, ...]:
    """Return messages in which every call has exactly one result, right after its turn.

    ``ids`` are those that calls before these messages have; the ids of these are added to it.
    """
    turns: list[Message | _Turn] = []
    ids = set() if ids is None else ids
    for message in messages:
        if isinstance(message, AssistantMessage):
            turns.append(_Turn(message, ids))
        elif isinstance(message, ToolMessage):
            for result in message.results:
                _deliver(result, turns)
        else:
            turns += _said(message)
    flat: list[Message] = []
    for turn in turns:
        flat += turn.settled() if isinstance(turn, _Turn) else [turn]
    return tuple(flat)


def _said(message: UserMessage) -> list[Message]:
    content = tuple(part for part in message.content if not isinstance(part, Text) or part.text)
    return [replace(message, content=content)] if content else []


class _Turn:
    """An assistant message and the results that its calls have got so far."""

    def __init__(self, message: AssistantMessage, ids: set[CallId]) -> None:
        self.asked = [call.id for call in message.tool_calls]
        self.results: list[ToolResult | None] = [None] * len(self.asked)
        parts = tuple(
            replace(part, id=_unique(part.id, ids)) if isinstance(part, ToolCall) else part
            for part in message.content
            if not isinstance(part, Text) or part.text
        )
        self.message = replace(message, content=parts)

    def accept(self, result: ToolResult) -> bool:
        """Take the result for the first unanswered call with its id; say whether there was one."""
        for at, (call_id, given) in enumerate(zip(self.asked, self.results, strict=True)):
            if call_id == result.call and given is None:
                self.results[at] = result
                return True
        return False

    def settled(self) -> list[Message]:
        if not self.message.content:
            return []
        calls = self.message.tool_calls
        if not calls:
            return [self.message]
        pairs = zip(calls, self.results, strict=True)
        return [self.message, ToolMessage(tuple(_settle(call, result) for call, result in pairs))]


def _deliver(result: ToolResult, turns: Sequence[Message | _Turn]) -> None:
    """Give the result to the latest turn that waits for it; one that nobody waits for is dropped."""
    for turn in reversed(turns):
        if isinstance(turn, _Turn) and turn.accept(result):
            return


def _settle(call: ToolCall, result: ToolResult | None) -> ToolResult:
    if result is None:
        return ToolResult(call.id, call.name, INTERRUPTED, is_error=True)
    output = result.output or ("" if result.images else NO_OUTPUT)
    return replace(result, call=call.id, output=output)


def _unique(call_id: CallId, taken: set[CallId]) -> CallId:
    name, number = call_id or CallId("call"), 1
    while name in taken:
        number += 1
        name = CallId(f"{call_id or 'call'}_{number}")
    taken.add(name)
    return name


def visible(path: Sequence[Entry], decode: Decode = decode_message) -> tuple[Seen, ...]:
    """Return what of a path is told the model, in order, before pairs are repaired.

    What the newest compaction summarises is left out, its summary comes first, and an older
    compaction inside counts for nothing. The newest edit of a message takes its place.
    """
    edits = {e.body.get("target"): e.body for e in path if e.type == "context_edit"}
    return tuple(seen for e in _kept(path) if (seen := _seen(e, edits, decode)) is not None)


def newest_compaction(path: Sequence[Entry]) -> tuple[int, int] | None:
    """Return where a path's newest compaction and its first kept entry stand; None without one.

    Where nothing was kept that is the compaction itself. Where the entry is lost it is the path's
    beginning: what it summarises is rather told twice than not at all.
    """
    at = max((n for n, entry in enumerate(path) if entry.type == "compaction"), default=None)
    if at is None:
        return None
    kept_from = path[at].body.get("first_kept")
    unknown = at if kept_from is None else 0
    return at, next((n for n, entry in enumerate(path[:at]) if entry.id == kept_from), unknown)


def _kept(path: Sequence[Entry]) -> Sequence[Entry]:
    newest = newest_compaction(path)
    if newest is None:
        return path
    at, first = newest
    kept = [entry for entry in path[first:at] if entry.type != "compaction"]
    return [path[at], *kept, *path[at + 1 :]]


def _seen(entry: Entry, edits: Mapping[Any, Mapping[str, Any]], decode: Decode) -> Seen | None:
    lead = LEADS.get(entry.type)
    if lead is not None:
        text = f"{lead}\n<summary>\n{entry.body.get('summary', '')}\n</summary>"
        return Seen(entry, UserMessage((Text(text),)))
    if entry.type != "message":
        return None
    edit = edits.get(entry.id)
    if edit is None:
        return Seen(entry, decode(entry.body))
    replacement = edit.get("replacement")
    return Seen(entry, decode(replacement), edited=True) if replacement is not None else None
