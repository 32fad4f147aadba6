"""The newest output of a process that may print for days: its end in memory, the rest counted."""

from __future__ import annotations

KEPT_BYTES = 1024 * 1024
_SLACK = KEPT_BYTES // 2
"""Bytes beyond it before the oldest are dropped, so that not every piece moves the rest."""


class Ring:
    """Bytes by their place in the whole output; the first that is kept has place ``start``."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self.start = 0

    @property
    def end(self) -> int:
        """Return the place after the last byte: how many there ever were."""
        return self.start + len(self._kept)

    def add(self, data: bytes) -> None:
        """Take the next piece."""
        self._kept += data
        if len(self._kept) > KEPT_BYTES + _SLACK:
            dropped = len(self._kept) - KEPT_BYTES
            del self._kept[:dropped]
            self.start += dropped

    def between(self, start: int, end: int) -> bytes:
        """Return what is kept of the bytes from one place to another."""
        first = max(start - self.start, 0)
        return bytes(self._kept[first : max(first, end - self.start)])

    def line_start(self, place: int) -> int:
        """Return where the line begins that the byte at a place belongs to, if that is kept."""
        if place <= self.start:
            return self.start
        return self.start + self._kept.rfind(b"\n", 0, place - self.start) + 1

    def character_start(self, place: int) -> int:
        """Return the place, or the one up to three bytes later where a character begins."""
        at = place - self.start
        while at < min(len(self._kept), place - self.start + 3) and self._kept[at] & 0xC0 == 0x80:
            at += 1
        return self.start + at

    def character_end(self, place: int) -> int:
        """Return the place, or the one before it where the character begins that it would cut."""
        at = place - self.start
        for back in range(1, min(4, at) + 1):
            byte = self._kept[at - back]
            if byte & 0xC0 != 0x80:
                length = 1 if byte < 0xC0 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
                return place - back if length > back else place
        return place
