"""The engine's wrapping of an attached container's output: pieces of two streams in turn."""

from __future__ import annotations

import struct

from orchestrator.errors import BoxError

_HEADER = struct.Struct("!BxxxI")
_STDOUT = 1
_STDERR = 2
LAST_WORDS = 4096
"""Bytes of standard error that are kept, for the message when the box ends."""


class EngineStream:
    """Takes the container's output apart, however its pieces are cut on the way."""

    def __init__(self) -> None:
        self._header = bytearray()
        self._left = 0
        self._kind = 0
        self._errors = bytearray()

    @property
    def idle(self) -> bool:
        """True between two pieces."""
        return not self._header and self._left == 0

    def feed(self, data: bytes) -> bytes:
        """Return what the container wrote to standard output."""
        out = bytearray()
        position = 0
        while position < len(data):
            if self._left == 0:
                position += self._take_header(data, position)
                continue
            piece = data[position : position + self._left]
            position += len(piece)
            self._left -= len(piece)
            if self._kind == _STDOUT:
                out += piece
            else:
                self._errors += piece
                del self._errors[:-LAST_WORDS]
        return bytes(out)

    def last_words(self) -> str:
        """Return the end of what the container wrote to standard error; untrusted."""
        return self._errors.decode("utf-8", "replace").strip()

    def _take_header(self, data: bytes, position: int) -> int:
        wanted = data[position : position + _HEADER.size - len(self._header)]
        self._header += wanted
        if len(self._header) == _HEADER.size:
            self._kind, self._left = _HEADER.unpack(self._header)
            self._header.clear()
            if self._kind not in {_STDOUT, _STDERR}:
                raise BoxError(f"engine: stream 1 or 2 expected, got {self._kind}")
        return len(wanted)
