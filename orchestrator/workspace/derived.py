"""Contents of changes: what the box has, and what was made of it and of the host's newer work.

Texts are read here for merging and for taking parts; each is checked to be what was judged.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from orchestrator.workspace.bases import MOST_BYTES
from orchestrator.workspace.node import Change, Node, Signature, signature
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.staging import OpenContent
from orchestrator.workspace.tree import Tree
from orchestrator.workspace.workspace import Workspace


def derived_spool(folder: Path) -> Spool:
    """Return where a session's derived contents are kept until the next look."""
    return Spool(folder / "derived")


@contextmanager
def open_contents(workspace: Workspace) -> Iterator[OpenContent]:
    """Give access to the contents of all changes, derived ones included."""
    spool = derived_spool(workspace.site.folder)
    with workspace.content() as of_box:

        def open_one(change: Change) -> AbstractContextManager[int]:
            return of_box(change) if change.box is None else _opened(spool, change)

        yield open_one


@contextmanager
def _opened(spool: Spool, change: Change) -> Iterator[int]:
    fd = spool.open(change.new.sha256 if change.new is not None else "")
    try:
        yield fd
    finally:
        os.close(fd)


def derive(spool: Spool, change: Change, data: bytes, *, mode: int) -> Change:
    """Return the change with other content in place of the box's, which is kept in ``spool``."""
    if not spool.directory.exists():
        spool.clear()
    digest = spool.take([data], size=len(data), unwanted="")
    node = Node("file", mode, size=len(data), sha256=digest.sha256)
    return replace(change, new=node, box=change.box or change.new)


def host_text(tree: Tree, path: str, seen: Signature | None) -> bytes | None:
    """Return the text of a host file, None where it is none; OSError when it is not as seen."""
    with tree.file(path) as fd:
        before = signature(os.fstat(fd))
        data = os.read(fd, MOST_BYTES + 1)
        if before != seen or signature(os.fstat(fd)) != seen:
            raise OSError(errno.EBUSY, "it changed while it was read", path)
    return _text(data)


def box_text(content: OpenContent, change: Change) -> bytes | None:
    """Return the text that a change would make, None where it is none; OSError when not as seen."""
    if change.new is None or change.new.size > MOST_BYTES:
        return None
    with content(change) as fd:
        data = os.read(fd, MOST_BYTES + 1)
    if hashlib.sha256(data).hexdigest() != change.new.sha256:
        raise OSError(errno.EBUSY, "it changed in the box while it was read", change.path)
    return _text(data)


def _text(data: bytes) -> bytes | None:
    return None if len(data) > MOST_BYTES or b"\0" in data else data
