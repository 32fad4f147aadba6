"""A session's tree laid out in lines, for people: pure, and raw text that the caller escapes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orchestrator.schema.ids import EntryId
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.entry_words import words_of
from orchestrator.sessions.tree import EntryTree


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """One entry and where it stands."""

    entry: Entry
    depth: int
    """How many branchings lie above it; a straight conversation stays at 0."""
    on_path: bool
    """It belongs to the conversation as it stands now."""


def outline(tree: EntryTree) -> Iterator[OutlineLine]:
    """Yield the entries depth first, each branch whole before the next."""
    children: defaultdict[EntryId | None, list[Entry]] = defaultdict(list)
    for entry in tree.entries:
        children[entry.parent].append(entry)
    current = {entry.id for entry in tree.path()}
    waiting = [(entry, 0) for entry in reversed(children[None])]
    while waiting:
        entry, depth = waiting.pop()
        yield OutlineLine(entry, depth, entry.id in current)
        below = children[entry.id]
        deeper = depth + 1 if len(below) > 1 else depth
        waiting += [(child, deeper) for child in reversed(below)]


def summary_of(entry: Entry) -> str:
    """Return what an entry says, in one text of any length."""
    if entry.type != "message":
        return words_of(entry)
    if entry.body["role"] == "tool":
        return f"tool: {' | '.join(_result(item) for item in entry.body['results'])}"
    parts = (_part(item) for item in entry.body["content"])
    return f"{entry.body['role']}: {' '.join(part for part in parts if part)}"


def _part(part: dict[str, Any]) -> str:
    if part["type"] == "tool_call":
        return f"[{part['name']} {part['arguments']}]"
    if part["type"] == "image":
        return f"[{part['media_type']}]"
    return f"[thinking] {part['text']}" if part["type"] == "thinking" else str(part["text"])


def _result(result: dict[str, Any]) -> str:
    mark = "error: " if result["is_error"] else ""
    return f"{result['name']}: {mark}{result['output']}"
