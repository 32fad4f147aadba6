"""The door to file operations: the server calls ``handle``, ``is_quick`` and ``resolve``.

All three run with the command user's effective ids. Requests and answers have the shapes of
``orchestrator.schema.request`` and ``orchestrator.schema.outcome``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any

import images
from edit import edit
from find import find
from grep import grep
from listing import ls
from paths import Places, Roots, absolute, land, landing
from read import read
from refusal import Refusal
from write import write

Operation = Callable[[dict[str, Any], Roots], dict[str, Any]]

OPERATIONS: dict[str, Operation] = {
    "read": read,
    "write": write,
    "edit": edit,
    "grep": grep,
    "find": find,
    "ls": ls,
}

QUICK_BYTES = 64 * 1024
"""Size of content, or of a directory's own record, up to which an operation takes milliseconds."""


def handle(request: dict[str, Any], config: Places) -> dict[str, Any]:
    """Run one file request; returns ``{"data": …}`` or ``{"error": …, "code": …}``."""
    return serve(request, Roots.of(config))


def serve(request: dict[str, Any], roots: Roots) -> dict[str, Any]:
    """Run one file request below the given roots."""
    operation = OPERATIONS.get(str(request.get("kind")))
    if operation is None:
        return Refusal("invalid", f"kind: unknown file request {request.get('kind')!r}").answer()
    try:
        return {"data": operation(request, roots)}
    except Refusal as refusal:
        return refusal.answer()
    except (KeyError, TypeError, ValueError) as error:
        # A request of another shape than ours, or a slip here: the server must outlive both.
        return Refusal("failed", f"{request.get('kind')}: {type(error).__name__}: {error}").answer()


def is_quick(request: dict[str, Any], config: Places) -> bool:
    """Say whether the request is done in milliseconds and may run inside the server's own loop."""
    kind = request.get("kind")
    if kind in {"grep", "find"}:
        return False
    if kind == "write" and len(str(request.get("content"))) > QUICK_BYTES:
        return False
    try:
        return _is_small(str(request.get("path")), Roots.of(config))
    except (OSError, Refusal):
        # It will be refused, which is quick.
        return True


def resolve(request: dict[str, Any], config: Places) -> str:
    """Return where the request's path lands, as text; never refuses (``handle`` will)."""
    return landing(str(request.get("path")), Roots.of(config))


def _is_small(asked: str, roots: Roots) -> bool:
    with land(absolute(asked, roots)) as place:
        status = place.status
        if status is None:
            return not _is_large(os.fstat(place.parent))
        if _is_large(status):
            return False
        if not stat.S_ISREG(status.st_mode):
            return True
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(place.rest[0], flags, dir_fd=place.parent)
        try:
            return images.sniff(os.pread(handle, 16, 0)) is None
        finally:
            os.close(handle)


def _is_large(status: os.stat_result) -> bool:
    return status.st_size > QUICK_BYTES
