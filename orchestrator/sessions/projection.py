"""A path of entries to the messages a model may be sent, pure.

Whatever the file holds, the result answers each tool call once, directly after its turn: missing
results are made up as interrupted, late ones pulled up, doubles and strays dropped. So no history
can make every later request fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

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


def project(path: Sequence[Entry]) -> tuple[Message, ...]:
    """Return the messages along a path, root first."""
    return repair(_messages_of(_visible(path)))


def repair(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return messages in which every call has exactly one result, right after its turn."""
    turns: list[Message | _Turn] = []
    ids: set[CallId] = set()
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


def _visible(path: Sequence[Entry]) -> Iterable[Entry]:
    """Leave out what the newest compaction summarises; an older one inside counts for nothing."""
    at = max((n for n, entry in enumerate(path) if entry.type == "compaction"), default=None)
    if at is None:
        return path
    kept_from = path[at].body.get("first_kept")
    first = next((n for n, entry in enumerate(path[:at]) if entry.id == kept_from), at)
    kept = [entry for entry in path[first:at] if entry.type != "compaction"]
    return [path[at], *kept, *path[at + 1 :]]


def _messages_of(entries: Iterable[Entry]) -> Iterable[Message]:
    for entry in entries:
        if entry.type == "message":
            yield decode_message(entry.body)
        elif entry.type in {"compaction", "branch_summary"}:
            yield UserMessage((Text(str(entry.body.get("summary", ""))),))
