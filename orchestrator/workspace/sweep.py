"""Removes a directory tree of any depth and mode, never through a link."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def sweep(directory: Path) -> list[str]:
    """Remove a tree; returns the names that could not be removed, most often none.

    A box may nest directories deeper than any path or stack can hold, so each is first moved up
    to the top and then emptied there.
    """
    try:
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return []
    try:
        stuck = _sweep_open(fd)
    finally:
        os.close(fd)
    if not stuck:
        directory.rmdir()
    return stuck


def _sweep_open(top: int) -> list[str]:
    stuck: list[str] = []
    number = 0
    waiting = [name for name in os.listdir(top) if not _remove_plain(top, name)]
    while waiting:
        name = waiting.pop()
        try:
            inner = _open_writable(top, name)
        except PermissionError:
            stuck.append(name)
            continue
        try:
            for child in os.listdir(inner):  # noqa: PTH208 - by descriptor
                if not _remove_plain(inner, child):
                    number += 1
                    _give_rights(inner, child)
                    moved = f".sweep-{number}"
                    os.rename(child, moved, src_dir_fd=inner, dst_dir_fd=top)
                    waiting.append(moved)
        except PermissionError:
            stuck.append(name)
            continue
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=top)
    return stuck


def _remove_plain(fd: int, name: str) -> bool:
    """Unlink anything but a directory; False for a directory."""
    if stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
        return False
    os.unlink(name, dir_fd=fd)
    return True


def _open_writable(fd: int, name: str) -> int:
    _give_rights(fd, name)
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)


def _give_rights(fd: int, name: str) -> None:
    """Make a directory of ours listable and writable; one of somebody else's stays as it is."""
    point = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
    try:
        info = os.fstat(point)
        if info.st_uid == os.geteuid() and info.st_mode & 0o700 != 0o700:
            Path(f"/proc/self/fd/{point}").chmod(0o700)
    finally:
        os.close(point)
