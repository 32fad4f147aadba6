"""The layer between host and box in which hidden paths are whiteouts, so that they are absent."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.tree import Tree

_WHITEOUT = os.makedev(0, 0)
_TO_FILL = 0o700
"""Rights that a plain user needs until everything is in its place."""


def build_mask(mask: Path, tree: Tree, hidden: Iterable[str]) -> None:
    """Fill an empty directory with a whiteout for each path, parents looking as on the host."""
    made: list[tuple[Path, os.stat_result]] = []
    for path in hidden:
        parts = path.split("/")
        for count in range(1, len(parts)):
            made += _copy_directory(mask, tree, "/".join(parts[:count]))
        try:
            os.mknod(mask / path, stat.S_IFCHR | 0o600, _WHITEOUT)
        except PermissionError as err:
            raise WorkspaceError(
                f"{path!r}: cannot be hidden: this kernel lets only root make whiteouts",
                hint="use --workspace copy",
            ) from err
    # At last and from below, because a new name touches the directory that holds it.
    for target, info in reversed(made):
        target.chmod(stat.S_IMODE(info.st_mode))
        os.utime(target, ns=(info.st_atime_ns, info.st_mtime_ns))


def _copy_directory(mask: Path, tree: Tree, path: str) -> list[tuple[Path, os.stat_result]]:
    target = mask / path
    info = tree.lstat(path)
    if target.exists() or info is None:
        return []
    target.mkdir()
    # The topmost layer's attributes are what the box sees of a merged directory.
    if os.geteuid() == 0:
        os.chown(target, info.st_uid, info.st_gid)
    target.chmod(stat.S_IMODE(info.st_mode) | _TO_FILL)
    return [(target, info)]
