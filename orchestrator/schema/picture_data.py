"""What is a picture's data in a message, and what only stands in its place. Pure."""

from __future__ import annotations

import re

PICTURE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Media types that every provider takes that sees pictures."""
PICTURE_STARTS = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR")
"""How PNG, JPEG, GIF and WebP begin in base64."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def is_base64(text: str) -> bool:
    """Say whether a text, which is not empty, has the letters of base64 alone."""
    return _BASE64.fullmatch(text) is not None
