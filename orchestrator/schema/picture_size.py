"""Width and height of a picture in a message, from its first bytes; nothing is decoded. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from orchestrator.schema.message import Image

MOST_HEADER = 262_144
"""Characters of base64 that are looked at; a JPEG may have a preview before its frame."""
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH = frozenset({0x01, 0xFF, *range(0xD0, 0xD9)})


def pixels(image: Image) -> tuple[int, int] | None:
    """Return width and height; None where they cannot be told."""
    try:
        head = base64.b64decode(image.data[:MOST_HEADER])
    except (binascii.Error, ValueError):
        return None
    found = next(iter(_READ.get(image.media_type, _unknown)(head)), None)
    return found if found is not None and min(found) > 0 else None


def _unknown(head: bytes) -> Iterator[tuple[int, int]]:  # noqa: ARG001 - the form of the others
    yield from ()


def _png(head: bytes) -> Iterator[tuple[int, int]]:
    if head[12:16] == b"IHDR" and len(head) >= 24:
        yield int.from_bytes(head[16:20]), int.from_bytes(head[20:24])


def _gif(head: bytes) -> Iterator[tuple[int, int]]:
    if len(head) >= 10:
        yield int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")


def _jpeg(head: bytes) -> Iterator[tuple[int, int]]:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        kind = head[at + 1]
        if kind in _FRAMES:
            yield int.from_bytes(head[at + 7 : at + 9]), int.from_bytes(head[at + 5 : at + 7])
            return
        if kind in _WITHOUT_LENGTH:
            at += 1 if kind == 0xFF else 2
        else:
            at += 2 + int.from_bytes(head[at + 2 : at + 4])


def _webp(head: bytes) -> Iterator[tuple[int, int]]:
    if len(head) < 30:
        return
    if head[12:16] == b"VP8X":
        yield 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    elif head[12:16] == b"VP8L":
        both = int.from_bytes(head[21:25], "little")
        yield 1 + (both & 0x3FFF), 1 + (both >> 14 & 0x3FFF)
    elif head[12:16] == b"VP8 ":
        yield (
            int.from_bytes(head[26:28], "little") & 0x3FFF,
            int.from_bytes(head[28:30], "little") & 0x3FFF,
        )


_READ = {"image/png": _png, "image/gif": _gif, "image/jpeg": _jpeg, "image/webp": _webp}
