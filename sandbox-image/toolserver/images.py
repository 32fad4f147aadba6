"""Pictures: known by their content, measured by their header, scaled down with PIL where needed.

PIL is imported on first use and only here; pictures are always handled in a worker process.
"""

from __future__ import annotations

import binascii
import io
import os
import sys
from importlib import import_module
from typing import Any

from headers import dimensions
from refusal import Refusal

PACKAGES = "/opt/glovebox/runtime/packages"

MAX_EDGE = 1568
"""Pixels of the longer edge; larger pictures gain nothing with today's vision models."""

MAX_BYTES = 1_500_000
"""Bytes of the encoded picture, two million characters of base64."""

MAX_SOURCE = 50 * 1024**2
"""Bytes of a picture that is opened at all."""

MAX_PIXELS = 50_000_000
"""Pixels that are decoded, about 200 MB; a header may promise more than memory holds."""

QUALITIES = (85, 70, 50)
"""JPEG qualities tried before the picture is made smaller."""


def sniff(head: bytes) -> str | None:
    """Return the media type of a PNG, JPEG, GIF or WebP that begins so."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def load(handle: int, size: int, media_type: str) -> dict[str, Any]:
    """Return a picture that fits the limits, scaled down if it must be."""
    if size > MAX_SOURCE:
        raise Refusal("too_large", f"{media_type} of {size} bytes: more than {MAX_SOURCE} bytes")
    with os.fdopen(os.dup(handle), "rb") as file:
        file.seek(0)
        data = file.read(MAX_SOURCE)
    measured = dimensions(data, media_type)
    if measured is None:
        return {"type": "binary", "bytes": size, "note": f"a damaged {media_type}"}
    width, height = measured
    if width * height > MAX_PIXELS:
        raise Refusal("too_large", f"{media_type} of {width}x{height}: over {MAX_PIXELS} pixels")
    return (checked if _has_pillow() else unchecked)(data, media_type, measured)


def unchecked(data: bytes, media_type: str, measured: tuple[int, int]) -> dict[str, Any]:
    """Return a picture that fits as it is; the way where the image has no PIL."""
    if _fits(data, measured):
        return _answer(data, media_type, measured, original=measured)
    raise Refusal(
        "too_large",
        f"{media_type} of {measured[0]}x{measured[1]} and {len(data)} bytes: more than {MAX_EDGE} "
        f"pixels or {MAX_BYTES} bytes, and the image has no PIL (python3-pil) to scale it down",
    )


def checked(data: bytes, media_type: str, measured: tuple[int, int]) -> dict[str, Any]:
    """Return a picture that PIL could decode, scaled down where it does not fit."""
    from PIL import Image, ImageOps  # noqa: PLC0415 - heavy, and absent from some images

    form = media_type.removeprefix("image/").upper()
    try:
        # Only the format that was sniffed: PIL's other decoders are no target.
        with Image.open(io.BytesIO(data), formats=[form]) as opened:
            opened.load()
            if _fits(data, measured):
                return _answer(data, media_type, measured, original=measured)
            upright = ImageOps.exif_transpose(opened)
            encoded, kind, shape = _shrunk(upright)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        # A provider would refuse it, and with it every later turn of the session.
        return {"type": "binary", "bytes": len(data), "note": f"a damaged {media_type}: {error}"}
    return _answer(encoded, kind, shape, original=measured)


def _shrunk(picture: Any) -> tuple[bytes, str, tuple[int, int]]:
    """Return the picture small enough: as PNG where that fits, else as JPEG."""
    opaque = picture.mode in {"RGB", "L", "CMYK", "YCbCr"}
    picture = picture.convert("RGB" if opaque else "RGBA")
    edge = MAX_EDGE
    while True:
        picture.thumbnail((edge, edge))
        encoded = _encoded(picture, "PNG", {"optimize": False})
        if len(encoded) <= MAX_BYTES:
            return encoded, "image/png", picture.size
        for quality in QUALITIES:
            encoded = _encoded(picture.convert("RGB"), "JPEG", {"quality": quality})
            if len(encoded) <= MAX_BYTES:
                return encoded, "image/jpeg", picture.size
        edge = edge * 3 // 4


def _encoded(picture: Any, form: str, options: dict[str, Any]) -> bytes:
    sink = io.BytesIO()
    picture.save(sink, form, **options)
    return sink.getvalue()


def _answer(
    data: bytes, media_type: str, shape: tuple[int, int], *, original: tuple[int, int]
) -> dict[str, Any]:
    return {
        "type": "image",
        "media_type": media_type,
        "data": binascii.b2a_base64(data, newline=False).decode("ascii"),
        "width": shape[0],
        "height": shape[1],
        "original_width": original[0],
        "original_height": original[1],
    }


def _fits(data: bytes, shape: tuple[int, int]) -> bool:
    return max(shape) <= MAX_EDGE and len(data) <= MAX_BYTES


def _has_pillow() -> bool:
    """Look for the server's own PIL, never for one of the image."""
    if PACKAGES not in sys.path:
        sys.path.append(PACKAGES)
    try:
        import_module("PIL.Image")
    except ImportError:
        return False
    return True
