"""Takes applied changes out of an overlay's upper directory, so that the host shows through.

Else a session that goes on would see yesterday's copies over what the person edited since.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from orchestrator.workspace.removal import unlink_paths
from orchestrator.workspace.tree import Tree

OPAQUE = "user.overlay.opaque"


def prune(upper: Tree, host: Tree, paths: Iterable[str]) -> None:
    """Remove the paths' files and whiteouts, then directories that say nothing any more.

    An opaque directory keeps everything: without its files it would show nothing at all.
    """
    directories: set[str] = set()
    files: list[str] = []
    opaque: dict[str, bool] = {}
    for path in paths:
        parts = path.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        for directory in above:
            if directory not in opaque:
                opaque[directory] = _is_opaque(upper, directory)
        if any(opaque[directory] for directory in above):
            continue
        directories.update(above)
        if _is_file(upper, path):
            files.append(path)
    unlink_paths(upper, files)
    for path in sorted(directories, key=lambda path: path.count("/"), reverse=True):
        _remove_directory(upper, host, path)


def _is_opaque(upper: Tree, path: str) -> bool:
    info = upper.lstat(path)
    if info is None or not stat.S_ISDIR(info.st_mode):
        return False
    with upper.directory(path) as fd:
        return OPAQUE in os.listxattr(fd)


def _is_file(upper: Tree, path: str) -> bool:
    info = upper.lstat(path)
    return info is not None and not stat.S_ISDIR(info.st_mode)


def _remove_directory(upper: Tree, host: Tree, path: str) -> None:
    """Remove an empty directory that the host has too."""
    mine, theirs = upper.lstat(path), host.lstat(path)
    if mine is None or theirs is None:
        return
    if stat.S_ISDIR(mine.st_mode) and stat.S_ISDIR(theirs.st_mode) and not upper.children(path):
        with upper.parent(path) as (fd, name):
            os.rmdir(name, dir_fd=fd)
