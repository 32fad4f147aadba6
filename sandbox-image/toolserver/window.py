"""A window of lines out of a file of any size, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

BLOCK = 256 * 1024
"""Bytes read at once."""

MAX_LINE = 4000
"""Bytes shown of one line; longer ones are cut and say so."""

MAX_SCAN = 2 * 1024**3
"""Bytes looked through, for the window and the line count: about a second from the page cache."""


class Cut(NamedTuple):
    """A line that is shown in part."""

    line: int
    shown: int
    """Bytes shown."""
    size: int
    """Bytes it has."""


class Window:
    """What was found; filled by ``scan``."""

    def __init__(self, offset: int) -> None:
        """Begin an empty window at a 1-based line."""
        self.offset = offset
        self.lines: list[str] = []
        self.cuts: list[Cut] = []
        self.total_lines: int | None = None
        """None where the file is longer than MAX_SCAN."""
        self.next_offset: int | None = None
        """The first line after the window; None at the end of the file."""
        self.binary = False
        """A line of the window holds a NUL."""


def scan(handle: int, *, size: int, offset: int, limit: int, max_bytes: int) -> Window:
    """Return the lines from ``offset`` on, whole lines up to ``limit`` and ``max_bytes`` of UTF-8.

    The file is read to the size it has now, so one that grows ends too.
    """
    scanner = _Scanner(Window(offset), limit=limit, budget=max_bytes)
    for block in _blocks(handle, min(size, MAX_SCAN)):
        scanner.feed(block)
    return scanner.finish(whole=size <= MAX_SCAN)


def cut_at_character(data: bytes, limit: int) -> bytes:
    """Return at most ``limit`` bytes without splitting a UTF-8 character."""
    if len(data) <= limit:
        return data
    end = limit
    while end > limit - 4 and end > 0 and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end]


def _blocks(handle: int, size: int) -> Iterator[bytes]:
    position = 0
    while position < size:
        block = os.pread(handle, min(BLOCK, size - position), position)
        if not block:
            return
        position += len(block)
        yield block


class _Scanner:
    """Eats blocks; keeps the window's lines and counts the others."""

    def __init__(self, window: Window, *, limit: int, budget: int) -> None:
        self.window = window
        self.limit = limit
        self.budget = budget
        self.line = 1
        self.full = False
        self.kept = bytearray()
        self.length = 0
        self.ended = True

    def feed(self, block: bytes) -> None:
        position = self._skip(block)
        if not self.full and position < len(block):
            position = self._take_whole_lines(block, position)
        while not self.full and position < len(block):
            end = block.find(b"\n", position)
            stop = len(block) if end < 0 else end
            # One byte more than is shown, so that the cut can see a character's border.
            piece = block[position : min(stop, position + MAX_LINE + 1 - len(self.kept))]
            self.length += stop - position
            if end < 0:
                self.kept += piece
                position = stop
            else:
                position = end + 1
                self._finish_line(bytes(self.kept) + piece if self.kept else piece)
        if self.full:
            self.line += block.count(b"\n", position)
        self.ended = block.endswith(b"\n")

    def finish(self, *, whole: bool) -> Window:
        if not self.ended:
            if not self.full and self.line >= self.window.offset:
                self._finish_line(bytes(self.kept))
            else:
                self.line += 1
        if whole:
            self.window.total_lines = self.line - 1
        last = self.window.offset + len(self.window.lines)
        if self.window.lines and (not whole or last < self.line):
            self.window.next_offset = last
        return self.window

    def _skip(self, block: bytes) -> int:
        """Pass over lines before the window; return where it begins in the block."""
        missing = self.window.offset - self.line
        if missing <= 0:
            return 0
        found = block.count(b"\n")
        if found < missing:
            self.line += found
            return len(block)
        position = 0
        for _ in range(missing):
            position = block.index(b"\n", position) + 1
        self.line = self.window.offset
        return position

    def _take_whole_lines(self, block: bytes, position: int) -> int:
        """Take at once the lines that surely fit; return where the first other one begins.

        Only plain ones: none was begun in the block before, is too long, or holds invalid bytes.
        """
        stop = block.rfind(b"\n", position, position + max(0, self.budget)) + 1
        if self.length or not stop or _has_long_line(block, position, stop):
            return position
        try:
            text = block[position:stop].decode()
        except UnicodeDecodeError:
            return position
        *lines, rest = text.split("\n", self.limit - len(self.window.lines))
        if rest:
            stop -= len(rest.encode())
        cost = stop - position
        if "\r" in text or (self.line == 1 and text.startswith("\ufeff")):
            lines = [line.removesuffix("\r") for line in lines]
            if self.line == 1:
                lines[0] = lines[0].removeprefix("\ufeff")
            cost = len("\n".join(lines).encode()) + 1
        self.budget -= cost
        if "\0" in text:
            self.window.binary = any("\0" in line for line in lines)
        self.window.lines += lines
        self.line += len(lines)
        self.full = len(self.window.lines) >= self.limit
        return stop

    def _finish_line(self, raw: bytes) -> None:
        if raw.endswith(b"\r") and self.length == len(raw):
            raw = raw[:-1]
        shown = cut_at_character(raw, MAX_LINE)
        if self.line == 1:
            shown = shown.removeprefix(b"\xef\xbb\xbf")
        text = shown.decode("utf-8", "replace")
        cost = 1 + (len(text) if text.isascii() else len(text.encode()))
        if cost > self.budget and self.window.lines:
            self.full = True
        else:
            self.budget -= cost
            self.window.binary = self.window.binary or b"\0" in shown
            self.window.lines.append(text)
            if len(raw) > MAX_LINE:
                self.window.cuts.append(Cut(self.line, len(shown), self.length))
        self.line += 1
        self.kept.clear()
        self.length = 0
        if len(self.window.lines) >= self.limit:
            self.full = True


def _has_long_line(block: bytes, position: int, stop: int) -> bool:
    """Say whether one of the whole lines that end before ``stop`` is cut when it is shown."""
    while position < stop:
        end = block.rfind(b"\n", position, min(stop, position + MAX_LINE + 1))
        if end < 0:
            return True
        position = end + 1
    return False
