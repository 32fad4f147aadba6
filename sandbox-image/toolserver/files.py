"""The door to file operations: the server calls ``attempt``, ``handle`` and ``resolve``.

All three run with the command user's effective ids. Requests and answers have the shapes of
``orchestrator.schema.request`` and ``orchestrator.schema.outcome``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from edit import edit
from find import find
from grep import grep
from listing import ls
from paths import QUICK_BYTES, Places, Roots, landing
from read import read
from refusal import Refusal, TakesLongError
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


def attempt(request: dict[str, Any], config: Places) -> dict[str, Any] | None:
    """Run a request that is done in milliseconds; None, and nothing is done, for any other.

    The server runs this in its own loop: a process for each read and write would take several times
    as long as they do. It needs none for its safety either. The server lends its effective ids
    alone, so the kernel judges as for a command; what is opened is a regular file or a directory,
    which neither waits for another program nor holds more than ``QUICK_BYTES``, as the open handle
    itself tells; nothing is decoded; and no state outlives the call. Whatever may take longer, and
    so may have to be ended, runs in a worker that can be killed.
    """
    kind = request.get("kind")
    if kind in {"grep", "find"}:
        return None
    if kind == "write" and len(str(request.get("content"))) > QUICK_BYTES:
        return None
    try:
        return serve(request, Roots.of(config, quick=True))
    except TakesLongError:
        return None


def resolve(request: dict[str, Any], config: Places) -> str:
    """Return where the request's path lands, as text; never refuses (``handle`` will)."""
    return landing(str(request.get("path")), Roots.of(config))
