"""The layer between host and box in which hidden paths are whiteouts, so that they are absent.

Files with credentials stand in it too, with placeholders, over the host's own.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.masking import Kept
from orchestrator.workspace.tree import Tree

_Look = tuple[int, int, int, int, bytes]
"""Mode, uid, gid, device, content."""
_WHITEOUT = os.makedev(0, 0)
_TO_FILL = 0o700
"""Rights that a plain user needs until everything is in its place."""


def build_mask(mask: Path, tree: Tree, kept: Kept) -> None:
    """Fill an empty directory with what hides and masks, all else looking as on the host."""
    made: list[tuple[Path, os.stat_result]] = []
    for path in (*kept.hidden, *kept.masked):
        parts = path.split("/")
        for count in range(1, len(parts)):
            made += _copy_directory(mask, tree, "/".join(parts[:count]))
        if path in kept.masked:
            made += _copy_file(mask, tree, path, kept.masked[path])
            continue
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


def refresh_mask(mask: Path, now: Path) -> bool:
    """Give a mask the times of one that was just built; False where they differ in more.

    Only for a mask that no box has looked at yet.
    """
    old, new = _looks(mask), _looks(now)
    if {path: look for path, (look, _) in old.items()} != {
        path: look for path, (look, _) in new.items()
    }:
        return False
    for path, (_, times) in new.items():
        os.utime(mask / path, ns=times, follow_symlinks=False)
    return True


def _looks(mask: Path) -> dict[str, tuple[_Look, tuple[int, int]]]:
    """Return what the box would see of each name, and its times."""
    found = {}
    waiting = [""]
    while waiting:
        above = waiting.pop()
        with os.scandir(mask / above) as entries:
            for entry in entries:
                path = f"{above}/{entry.name}" if above else entry.name
                info = entry.stat(follow_symlinks=False)
                content = b""
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(path)
                elif stat.S_ISREG(info.st_mode):
                    content = (mask / path).read_bytes()
                look = (info.st_mode, info.st_uid, info.st_gid, info.st_rdev, content)
                found[path] = (look, (info.st_atime_ns, info.st_mtime_ns))
    return found


def _copy_file(
    mask: Path, tree: Tree, path: str, content: bytes
) -> list[tuple[Path, os.stat_result]]:
    info = tree.lstat(path)
    if info is None:
        return []
    target = mask / path
    target.write_bytes(content)
    if os.geteuid() == 0:
        os.chown(target, info.st_uid, info.st_gid)
    return [(target, info)]


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
