"""Pictures that a person names as ``@path``: read on the host, known by their content.

They are not decoded here: a picture of an untrusted project would be read by a large parser outside
of the box. So none is scaled, and one that is too large for a model is refused.
"""

from __future__ import annotations

import base64
import errno
import re
from pathlib import Path

from anyio import to_thread

from orchestrator.errors import UsageError
from orchestrator.prompts.beneath import read_in
from orchestrator.schema.message import Image
from orchestrator.schema.picture_size import pixels

MAX_BYTES = 3_750_000
"""What vendors take of one picture: 5 MB of base64."""
MAX_EDGE = 8_000
"""Pixels of an edge that vendors take; a picture of more can have very few bytes."""
MOST = 20
"""Pictures with one thing said; more make vendors refuse large ones."""

_NAMED = re.compile(r"(?<!\S)@(\S+\.(?:png|jpe?g|webp|gif))(?=[,;:.!?)]*(?:\s|\Z))", re.IGNORECASE)
_LINK = frozenset({errno.ELOOP, errno.ENOTDIR})
_KINDS = ("PNG", "JPEG", "WebP", "GIF")


async def pictures_in(text: str, directory: Path) -> tuple[Image, ...]:
    """Return the pictures of the directory that a text names; a name that is no file's is a word.

    Raises UsageError for one that cannot be sent, or is reached by a link.
    """
    names = list(dict.fromkeys(match[1] for match in _NAMED.finditer(text)))
    found = [await to_thread.run_sync(_read, name, directory) for name in names]
    pictures = tuple(picture for picture in found if picture is not None)
    if len(pictures) > MOST:
        raise UsageError(f"expected {MOST} pictures at most, got {len(pictures)}")
    return pictures


def _read(name: str, directory: Path) -> Image | None:
    if name.startswith(("/", "~")) or ".." in name.split("/"):
        raise UsageError(
            f"@{name}: expected a path within {directory}", hint="copy the picture there"
        )
    try:
        *steps, last = name.split("/")
        data = read_in(directory, steps, last, limit=MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = "links are not followed" if error.errno in _LINK else error.strerror
        raise UsageError(f"@{name}: {why}", hint="name a picture's own file") from error
    kind = kind_of(data)
    if kind is None:
        raise UsageError(f"@{name}: expected {', '.join(_KINDS)}, its content is none of them")
    if len(data) > MAX_BYTES:
        raise UsageError(
            f"@{name}: expected at most {MAX_BYTES} bytes",
            hint="scale it down, or have the model read it: the box does that",
        )
    image = Image(kind, base64.b64encode(data).decode("ascii"))
    width, height = pixels(image) or (0, 0)
    if max(width, height) > MAX_EDGE:
        raise UsageError(
            f"@{name}: expected at most {MAX_EDGE} pixels on each edge, got {width}x{height}",
            hint="scale it down, or have the model read it: the box does that",
        )
    return image


def kind_of(head: bytes) -> str | None:
    """Return the media type of a picture that begins so."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if head.startswith(b"RIFF") and head[8:12] == b"WEBP" else None
