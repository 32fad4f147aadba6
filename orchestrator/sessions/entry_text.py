"""What an entry says, as plain text for search and exports. Pure; raw, the caller escapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.sessions.entry import Entry

_TOLD = ("summary", "label", "title", "told", "words", "reason", "skill", "model")
"""Fields of bodies that are no messages, which people would look for."""


def role_of(entry: Entry) -> str:
    """Return who speaks: ``user``, ``assistant``, ``tool``, or the type of another entry."""
    return str(entry.body["role"]) if entry.type == "message" else entry.type


def texts_of(entry: Entry) -> Iterator[str]:
    """Yield every text of an entry: what was said, thought, called, returned or summarised."""
    if entry.type != "message":
        yield from (str(entry.body[name]) for name in _TOLD if entry.body.get(name))
    elif entry.body["role"] == "tool":
        yield from (str(result["output"]) for result in entry.body["results"])
    else:
        for part in entry.body["content"]:
            yield from _part(part)


def _part(part: dict[str, Any]) -> Iterator[str]:
    if part["type"] == "tool_call":
        yield f"{part['name']} {part['arguments']}"
    elif part["type"] != "image":
        yield str(part["text"])
