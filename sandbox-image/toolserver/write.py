"""Writing a whole file."""

from __future__ import annotations

import os
from typing import Any

from hunks import compare, split_lines, unified
from names import has_controls, shown_name
from paths import Place, Roots, placed
from read import looks_binary, open_regular, refuse_irregular
from refusal import Refusal
from replace import make_folders, replace

MAX_DIFFED = 1024**2
"""Bytes of old and new content up to which a diff is made."""


def write(request: dict[str, Any], roots: Roots) -> dict[str, Any]:
    """Create the file, or replace its whole content; directories above it are made."""
    asked = str(request["path"])
    data = text_bytes(str(request["content"]), "content")
    with placed(request, roots, "write") as place:
        if place.status is not None:
            refuse_irregular(place.status, asked)
            place.bear(place.status.st_size)
            old = _content_for_diff(place, asked)
            replace(place.parent, place.rest[0], data, old=place.status)
        else:
            old = b""
            _create(place, asked, data)
        diff = _diff(place.shown, old, data)
        return {"bytes": len(data), "created": place.status is None, "diff": diff}


def text_bytes(text: str, field: str) -> bytes:
    """Return the text as UTF-8; half a surrogate pair is refused."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Refusal(
            "invalid", f"{field}: holds half of a surrogate pair, no valid text"
        ) from None


def _create(place: Place, asked: str, data: bytes) -> None:
    odd = [name for name in place.rest if has_controls(name)]
    if odd:
        # Most likely a slip: dir\new.txt would make a file with a newline in its name.
        raise Refusal(
            "invalid",
            f"{asked}: no new name with control characters is made ({shown_name(odd[0])}); "
            "folders are divided by /, a backslash in a name is written \\\\",
        )
    folder = make_folders(place.parent, place.rest[:-1])
    try:
        replace(folder, place.rest[-1], data, old=None)
    finally:
        os.close(folder)


def _content_for_diff(place: Place, asked: str) -> bytes | None:
    if place.status is None or place.status.st_size > MAX_DIFFED:
        return None
    try:
        handle, status = open_regular(place, asked)
    except PermissionError:
        # What may be written but not read is written, only without a diff.
        return None
    try:
        return os.pread(handle, min(status.st_size, MAX_DIFFED), 0)
    finally:
        os.close(handle)


def _diff(path: str, old: bytes | None, new: bytes) -> str:
    if old is None or len(new) > MAX_DIFFED or looks_binary(old[:8192]):
        return ""
    before = split_lines(old)
    return unified(path, before, compare(before, split_lines(new)))
