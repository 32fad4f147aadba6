"""An event as a fold can take it: each member of its type, or left out; pure.

Servers and gateways write numbers for texts, objects for texts of JSON, null for anything. A fold
would fail on them in the middle of an answer, and nobody foresaw where.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_JSON = frozenset({"arguments", "partial_json"})
"""Texts of JSON; what is none yet is written as one, so that nothing stands for no arguments."""
_OPAQUE = frozenset({"input", "usage", "tools", "metadata", "instructions"})
"""Nobody looks into them here, or whoever does bears anything."""
_LISTS = frozenset({"choices", "tool_calls", "output", "summary"})
_EITHER = frozenset({"content", "thinking"})
"""A text or a list of parts."""
_OBJECTS = frozenset(
    {
        "base_resp",
        "content_block",
        "function",
        "function_call",
        "incomplete_details",
        "item",
        "response",
        "stop_details",
    }
)
_LOOSE = frozenset({"delta", "error", "message"})
"""A text or an object."""


def shaped(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event without members that have no type of theirs; null is no member."""
    made = {name: _member(name, value) for name, value in event.items() if value is not None}
    return {name: value for name, value in made.items() if value is not None}


def _member(name: str, value: Any) -> Any:
    if name in _OPAQUE:
        return value
    if name in _JSON:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if name == "index":
        return value if type(value) is int else None
    if isinstance(value, Mapping):
        return shaped(value) if name in _OBJECTS | _LOOSE else None
    if isinstance(value, list):
        parts = [shaped(item) for item in value if isinstance(item, Mapping)]
        return parts if name in _LISTS | _EITHER else None
    if name in _LISTS | _OBJECTS or isinstance(value, bool):
        return None
    # A number is no reason to stop: it is left out where one is wanted.
    return value if isinstance(value, str) else None if name.endswith("reason") else str(value)


def object_in(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a member that is an object; an empty one where it is none."""
    value = event.get(name)
    return value if isinstance(value, Mapping) else {}


def text_in(event: Mapping[str, Any], name: str) -> str:
    """Return a member that is a text; an empty one where it is none."""
    value = event.get(name)
    return value if isinstance(value, str) else ""


def list_in(event: Mapping[str, Any], name: str) -> list[Any]:
    """Return a member that is a list; an empty one where it is none."""
    value = event.get(name)
    return value if isinstance(value, list) else []
