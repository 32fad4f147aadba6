"""The parts of a request that may hold content or point to it, in every API. Pure.

Servers take one object where a list is meant, and both spellings of a name: so does this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orchestrator.egress.endpoint.routes import Route

Block = Mapping[str, Any]
_LISTS = ("content", "output", "parts")
_OBJECTS = ("audio", "file", "functionResponse", "function_response", "source")
_INSTRUCTIONS = ("systemInstruction", "system_instruction")
COUNTED = ("generateContentRequest", "generate_content_request")
"""Names under which Gemini's count holds a whole request."""


def blocks(data: Block, route: Route) -> Iterator[tuple[str, Block]]:
    """Yield every part of the conversation with its place, what the model's own calls hold left out."""
    if route.shape == "gemini":
        for name in COUNTED:
            for request in objects(data.get(name)):
                yield from blocks(request, route)
        for name in ("contents", *_INSTRUCTIONS):
            yield from _parts("contents", objects(data.get(name)))
        return
    for name in ("messages", "input", "system"):
        yield from _parts(name, objects(data.get(name)))


def objects(value: Any) -> list[Block]:
    """Return the objects of a list, or the one that stands in its place."""
    if isinstance(value, dict):
        return [value]
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _parts(place: str, items: Iterable[Block]) -> Iterator[tuple[str, Block]]:
    for item in items:
        yield place, item
        for inner in _LISTS:
            yield from _parts(f"{place}.{inner}", objects(item.get(inner)))
        for inner in _OBJECTS:
            if isinstance(item.get(inner), dict):
                yield from _parts(f"{place}.{inner}", objects(item[inner]))
