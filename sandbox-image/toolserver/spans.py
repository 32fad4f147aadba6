"""Finding and replacing texts in bytes: exact, but for CRLF that counts as LF.

Content stays bytes, so what is not UTF-8 survives. Line endings inside a replaced region keep
their style; every byte outside of one is left as it was.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

MAX_COUNTED = 10_000
"""Occurrences counted; more are reported as more than this."""

MAX_REPLACED = 100_000
"""Occurrences that one edit may replace; each is held as a span."""


class Span(NamedTuple):
    """One region of the content to be replaced."""

    start: int
    stop: int
    new: bytes
    edit: int
    """Index of the edit it belongs to."""


class Haystack:
    """Content as it is searched: each CRLF reads as LF, and positions map back."""

    def __init__(self, content: bytes) -> None:
        """Note where returns were dropped."""
        self.content = content
        self.text = content.replace(b"\r\n", b"\n")
        self._dropped = _dropped_returns(content) if len(self.text) < len(content) else []

    def occurrences(self, old: bytes) -> list[int]:
        """Return where ``old`` (with LF) begins in ``text``, overlapping ones too."""
        found: list[int] = []
        position = self.text.find(old)
        while position >= 0 and len(found) <= MAX_COUNTED:
            found.append(position)
            position = self.text.find(old, position + 1)
        return found

    def disjoint(self, old: bytes) -> list[int]:
        """Return where ``old`` begins, from left to right without overlap."""
        found: list[int] = []
        position = self.text.find(old)
        while position >= 0 and len(found) <= MAX_REPLACED:
            found.append(position)
            position = self.text.find(old, position + len(old))
        return found

    def line(self, position: int) -> int:
        """Return the 1-based line of a position in ``text``."""
        return self.text.count(b"\n", 0, position) + 1

    def span(self, position: int, old: bytes, new: bytes, *, edit: int) -> Span:
        """Return the region of the content for a match, ``new`` in its line-ending style."""
        start = self._original(position)
        stop = self._original(position + len(old))
        endings = self._endings(start, stop)
        return Span(start, stop, _with_endings(new, endings), edit)

    def _original(self, position: int) -> int:
        return position + bisect_left(self._dropped, position)

    def _endings(self, start: int, stop: int) -> list[bytes]:
        """Return the region's line endings, or that of the line it stands in."""
        if not self._dropped:
            return [b"\n"]
        inside = _endings_in(self.content[start:stop])
        if inside:
            return inside
        after = self.content.find(b"\n", stop)
        if after < 0:
            after = self.content.rfind(b"\n", 0, start)
        return [b"\r\n" if after > 0 and self.content[after - 1 : after] == b"\r" else b"\n"]


def replaced(content: bytes, spans: Sequence[Span]) -> bytes:
    """Return the content with disjoint spans, sorted by position, replaced."""
    pieces: list[bytes] = []
    position = 0
    for span in spans:
        pieces += [content[position : span.start], span.new]
        position = span.stop
    return b"".join([*pieces, content[position:]])


def first_overlap(spans: Sequence[Span]) -> tuple[Span, Span] | None:
    """Return the first two sorted spans that overlap; touching ones do not."""
    for left, right in zip(spans, spans[1:]):  # noqa: B905, RUF007 - one shorter by design
        if right.start < left.stop:
            return left, right
    return None


def _dropped_returns(content: bytes) -> list[int]:
    """Return, for each CRLF, where its LF stands once returns are dropped."""
    dropped: list[int] = []
    position = content.find(b"\r\n")
    while position >= 0:
        dropped.append(position - len(dropped))
        position = content.find(b"\r\n", position + 2)
    return dropped


def _endings_in(region: bytes) -> list[bytes]:
    lines = region.split(b"\n")[:-1]
    return [b"\r\n" if line.endswith(b"\r") else b"\n" for line in lines]


def _with_endings(new: bytes, endings: list[bytes]) -> bytes:
    """Give the first newlines the old ones' style, one by one; the rest take the last style."""
    first, *others = new.split(b"\n")
    pieces = [first]
    for index, line in enumerate(others):
        pieces += [endings[min(index, len(endings) - 1)], line]
    return b"".join(pieces)
