"""An index page as it passes, decoded and bounded."""

from __future__ import annotations

import zlib

MOST = 48 * 1024 * 1024
"""Bytes of a decoded page; the largest of public registries take half of it."""
_GZIP = 16 + zlib.MAX_WBITS
_READABLE = ("gzip", "identity")


def readable_encodings(name: bytes, value: bytes) -> bytes:
    """Return a header's value, of ``Accept-Encoding`` what can be read here too."""
    if name.lower() != b"accept-encoding":
        return value
    offered = [part.strip() for part in value.decode("latin-1").split(",")]
    kept = [part for part in offered if part.partition(";")[0].strip().lower() in _READABLE]
    return ", ".join(kept or ["identity"]).encode("latin-1")


class PageBody:
    """Takes the parts, gives the whole; whatever cannot be read is told once, at the end."""

    def __init__(self, coding: str) -> None:
        """``coding`` is the answer's ``Content-Encoding``."""
        self._problem = ""
        self._inflate = None
        self._decoded = bytearray()
        if coding.strip().lower() in {"gzip", "x-gzip"}:
            self._inflate = zlib.decompressobj(_GZIP)
        elif coding.strip().lower() not in {"", "identity"}:
            self._problem = f"it is encoded as {coding!r}"

    def add(self, chunk: bytes) -> None:
        """Take the next part."""
        if self._problem:
            return
        room = MOST - len(self._decoded)
        try:
            if self._inflate is not None:
                self._decoded += self._inflate.decompress(chunk, room + 1)
            else:
                self._decoded += chunk[: room + 1]
        except zlib.error as err:
            self._give_up(f"broken compression: {err}")
        if len(self._decoded) > MOST:
            self._give_up(f"it is longer than {MOST} bytes")

    def whole(self) -> bytes:
        """Return the page; ValueError says why it cannot be read."""
        if self._inflate is not None and not self._inflate.eof and not self._problem:
            self._give_up("its compressed form ends early")
        if self._problem:
            raise ValueError(self._problem)
        return bytes(self._decoded)

    def _give_up(self, problem: str) -> None:
        self._problem = problem
        self._decoded = bytearray()
