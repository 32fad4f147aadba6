"""Tool calls put together from Chat Completions deltas, also where a server numbers them badly.

Servers leave out the index, repeat the name in every delta, give every call index 0, or send no
id: so an entry is told apart by id first, then index, then order. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.model.answer import CallPieces
from orchestrator.model.client import Delta
from orchestrator.schema.codec import parse_arguments


class CallFold:
    """The calls of one answer."""

    def __init__(self) -> None:
        """Begin without calls."""
        self.pieces: list[CallPieces] = []
        self._by_index: dict[int, CallPieces] = {}

    def take(self, entry: Mapping[str, Any]) -> Delta:
        """Add one entry of ``delta.tool_calls`` to the call it belongs to; return what it adds."""
        function = entry.get("function") or {}
        name = function.get("name") or ""
        arguments = function.get("arguments") or ""
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        given, index = entry.get("id") or "", entry.get("index")
        call = self._find(given, index, name=name, more=arguments)
        call.id = call.id or given
        if index is not None and not call.arguments:
            call.name = _joined(call.name, name)
        call.name = call.name or name
        call.arguments += arguments
        return Delta("call", arguments)

    def _find(self, given: str, index: int | None, *, name: str, more: str) -> CallPieces:
        known = next((call for call in self.pieces if given and call.id == given), None)
        if known is not None and not self._is_namesake(known, index, name=name):
            return known
        place = self._by_index.get(index) if index is not None else None
        if index is None and self.pieces and known is None:
            place = self.pieces[-1]
        if place is None or _is_another(place, given, name=name, more=more):
            place = CallPieces()
            self.pieces.append(place)
        if index is not None:
            self._by_index[index] = place
        return place

    def _is_namesake(self, call: CallPieces, index: int | None, *, name: str) -> bool:
        """Say whether an entry begins a second call under an id that a whole call has."""
        elsewhere = index is None or index not in self._by_index
        return (
            bool(name)
            and elsewhere
            and _is_whole(call)
            and (index is not None or name != call.name)
        )


def _is_another(call: CallPieces, given: str, *, name: str, more: str) -> bool:
    """Say whether an entry at a call's place begins a new call.

    A new id alone does not: some servers make up another with each piece.
    """
    if given and call.id and given != call.id:
        goes_on = name == call.name and bool(call.arguments) and not _is_whole(call)
        return _is_whole(call) or (bool(name) and not goes_on)
    return bool(name and call.name and more and _is_whole(call))


def _is_whole(call: CallPieces) -> bool:
    return bool(call.arguments) and parse_arguments(call.arguments) is not None


def _joined(name: str, more: str) -> str:
    """Return a name that comes in pieces, or again and again, or longer each time."""
    if not more or more == name:
        return name
    return more if more.startswith(name) else name + more
