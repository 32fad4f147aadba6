"""What a program with pipes says: pieces of its output and of its errors, in the order they came."""

from __future__ import annotations

import struct
from typing import Literal

from orchestrator.errors import BoxError

Source = Literal["stdout", "stderr"]

_HEADER = struct.Struct("!BxxxI")
_SOURCES: dict[int, Source] = {1: "stdout", 2: "stderr"}
_MOST = 65_536
"""Bytes of one piece."""


def piece_of(source: Source, data: bytes) -> bytes:
    """Return a piece as a box sends it."""
    number = 1 if source == "stdout" else 2
    return _HEADER.pack(number, len(data)) + data


class Pieces:
    """Takes a ProgramTarget's stream apart, however it is cut on the way."""

    def __init__(self) -> None:
        """Begin before the first piece."""
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[tuple[Source, bytes]]:
        """Return the pieces that ``data`` completes; BoxError for what is none."""
        buffer = self._buffer
        buffer += data
        found: list[tuple[Source, bytes]] = []
        at = 0
        while len(buffer) - at >= _HEADER.size:
            number, length = _HEADER.unpack_from(buffer, at)
            source = _SOURCES.get(number)
            if source is None or not 0 < length <= _MOST:
                raise BoxError(f"box: no piece of a program's output ({number}, {length})")
            end = at + _HEADER.size + length
            if len(buffer) < end:
                break
            found.append((source, bytes(buffer[at + _HEADER.size : end])))
            at = end
        del buffer[:at]
        return found
