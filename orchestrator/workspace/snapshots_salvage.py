"""Keeping what went into a copy from the host, once the box has something else in its place."""

from __future__ import annotations

from orchestrator.workspace.snapshots_contents import Contents
from orchestrator.workspace.tree import Tree


def salvage(path: str, sha256: str, *, contents: Contents, host: Tree) -> None:
    """Keep what went in from the host and is still there, before nobody has it any more."""
    info = host.lstat(path)
    if info is None or contents.has(sha256):
        return
    try:
        with host.file(path) as fd:
            contents.keep_file(fd, size=info.st_size)
    except OSError:
        # Whoever asks looks whether the content is there by now.
        return
