"""Reading one regular file: a window of its lines, a picture, or a word about what it is."""

from __future__ import annotations

import os
import stat
from typing import Any

import images
from nearby import not_found
from paths import UNKNOWN, Place, Roots, placed
from refusal import Refusal, TakesLongError
from window import Window, scan

SNIFF = 8192
"""Bytes looked at to tell text from pictures and other binary content."""

_READING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_NOT_IN_TEXT = bytes(set(range(0x20)) - set(b"\t\n\r\f\b\x1b"))


def read(request: dict[str, Any], roots: Roots) -> dict[str, Any]:
    """Return the window of a text, a picture scaled down, or the kind of content it is."""
    with placed(request, roots, "read") as place:
        handle, status = open_regular(place, str(request["path"]))
        try:
            return _content(handle, request, place, size=status.st_size)
        finally:
            os.close(handle)


def open_regular(place: Place, asked: str) -> tuple[int, os.stat_result]:
    """Open the landing for reading; only a regular file is opened, and nothing ever blocks.

    Returns the handle and the status of what was opened.
    """
    if place.status is None:
        raise not_found(place, asked)
    refuse_irregular(place.status, asked)
    handle = os.open(place.rest[0], _READING, dir_fd=place.parent)
    try:
        # Of the handle itself: whatever has the name by now, this is what will be read.
        status = os.fstat(handle)
        refuse_irregular(status, asked)
        place.bear(status.st_size)
    except (Refusal, TakesLongError):
        os.close(handle)
        raise
    return handle, status


def refuse_irregular(status: os.stat_result, asked: str) -> None:
    """Refuse what is no regular file, naming what it is."""
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise Refusal("not_regular", f"{asked} is a directory; list it with the ls tool or bash ls")
    raise Refusal("not_regular", f"{asked} is {kind_of(mode)}, not a regular file")


def kind_of(mode: int) -> str:
    """Return the kind of a file in words."""
    kinds = (
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
        (stat.S_ISLNK, "a link"),
    )
    return next((word for test, word in kinds if test(mode)), "a special file")


def _content(handle: int, request: dict[str, Any], place: Place, *, size: int) -> dict[str, Any]:
    head = os.pread(handle, SNIFF, 0)
    if not head:
        return {"type": "empty"}
    media_type = images.sniff(head)
    if media_type is not None:
        place.bear(UNKNOWN)
        return images.load(handle, size, media_type)
    if looks_binary(head):
        return {"type": "binary", "bytes": size}
    offset = max(1, int(request.get("offset") or 1))
    window = scan(
        handle,
        size=size,
        offset=offset,
        limit=max(1, int(request.get("limit") or 2000)),
        max_bytes=int(request.get("max_bytes") or 50_000),
    )
    if window.binary:
        return {"type": "binary", "bytes": size}
    if not window.lines:
        raise _past_the_end(str(request["path"]), offset, window)
    return _text(window, size)


def looks_binary(head: bytes) -> bool:
    """Say whether content that begins so is no text: it has a NUL or is mostly control bytes."""
    if b"\0" in head:
        return True
    text = head.decode("utf-8", "replace")
    odd = text.count("\ufffd") + len(head) - len(head.translate(None, _NOT_IN_TEXT))
    return odd * 10 > len(text) * 3


def _text(window: Window, size: int) -> dict[str, Any]:
    return {
        "type": "text",
        "text": "\n".join(window.lines),
        "start": window.offset,
        "lines": len(window.lines),
        "total_lines": window.total_lines,
        "total_bytes": size,
        "next_offset": window.next_offset,
        "cut_lines": [{"line": c.line, "shown": c.shown, "bytes": c.size} for c in window.cuts],
    }


def _past_the_end(asked: str, offset: int, window: Window) -> Refusal:
    if window.total_lines is None:
        return Refusal("too_large", f"{asked}: line {offset} lies too deep in the file; use bash")
    count = window.total_lines
    ending = "line" if count == 1 else "lines"
    return Refusal("invalid", f"{asked}: offset {offset} is past the end; it has {count} {ending}")
