"""Tool calls put together from Chat Completions deltas, also where a server numbers them badly.

Servers leave out the index, repeat the name in every delta, give every call index 0, or send no
id: so an entry is told apart by id first, then index, then order. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.model.answer import CallPieces
from orchestrator.schema.codec import parse_arguments


class CallFold:
    """The calls of one answer."""

    def __init__(self) -> None:
        """Begin without calls."""
        self.pieces: list[CallPieces] = []
        self._by_index: dict[int, CallPieces] = {}

    def take(self, entry: Mapping[str, Any]) -> None:
        """Add one entry of ``delta.tool_calls`` to the call it belongs to."""
        function = entry.get("function") or {}
        name = function.get("name") or ""
        arguments = function.get("arguments") or ""
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        call = self._find(entry.get("id") or "", entry.get("index"), name=name, more=arguments)
        call.id = call.id or entry.get("id") or ""
        call.name = call.name or name
        call.arguments += arguments

    def _find(self, given: str, index: int | None, *, name: str, more: str) -> CallPieces:
        known = next((call for call in self.pieces if given and call.id == given), None)
        if known is not None:
            return known
        place = self._by_index.get(index) if index is not None else None
        if index is None and self.pieces:
            place = self.pieces[-1]
        if place is None or _is_another(place, given, name=name, more=more):
            place = CallPieces()
            self.pieces.append(place)
        if index is not None:
            self._by_index[index] = place
        return place


def _is_another(call: CallPieces, given: str, *, name: str, more: str) -> bool:
    """Say whether an entry at a call's place begins a new call."""
    if given and call.id:
        return True
    whole = bool(call.arguments) and parse_arguments(call.arguments) is not None
    return bool(name and call.name and more and whole)
