"""Width and height of a picture from its header alone, without decoding it."""

from __future__ import annotations

import struct

_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD9)})


def dimensions(data: bytes, media_type: str) -> tuple[int, int] | None:
    """Return width and height in pixels; None where the header is cut or damaged."""
    readers = {
        "image/png": _png,
        "image/gif": _gif,
        "image/jpeg": _jpeg,
        "image/webp": _webp,
    }
    try:
        found = readers[media_type](data)
    except (struct.error, IndexError):
        return None
    return found if found is not None and min(found) > 0 else None


def _png(data: bytes) -> tuple[int, int] | None:
    if data[12:16] != b"IHDR":
        return None
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _jpeg(data: bytes) -> tuple[int, int] | None:
    position = 2
    while data[position] == 0xFF:
        marker = data[position + 1]
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, position + 5)
            return width, height
        if marker == 0xFF:
            position += 1
        elif marker in _JPEG_BARE:
            position += 2
        else:
            position += 2 + struct.unpack_from(">H", data, position + 2)[0]
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    form = data[12:16]
    if form == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    if form == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        return width, int.from_bytes(data[27:30], "little") + 1
    return None
