"""Reading a project's files on the host: no link leads out, no pipe holds up, nothing is large.

The tree may be a stranger's. Every step is opened on the one before, so that nothing that is moved
meanwhile leads elsewhere.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
MOST_FILES = 200
"""Looked at in one folder."""


@contextmanager
def opened(root: Path, steps: Sequence[str] = ()) -> Iterator[int]:
    """Give the folder ``root/steps…``, opened without following a link below ``root``."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in steps:
            inner = os.open(step, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def read_beneath(root: Path, name: str, *, limit: int) -> bytes | None:
    """Return a file's bytes, ``limit`` + 1 at most; None where there is none.

    A link may lead to a file in the same folder or below it, once. OSError with words for anything
    else that is no regular file.
    """
    with opened(root) as folder:
        try:
            return _read(folder, name, limit=limit)
        except FileNotFoundError:
            return None
        except OSError as err:
            if err.errno != errno.ELOOP:
                raise
            target = PurePosixPath(os.readlink(name, dir_fd=folder))
    if target.is_absolute() or ".." in target.parts or not target.parts:
        raise OSError(errno.ELOOP, "a link that leads out of its folder is not followed", name)
    try:
        with opened(root, target.parts[:-1]) as folder:
            return _read(folder, target.name, limit=limit)
    except OSError as err:
        words = "expected a link to a regular file, and no further link"
        raise OSError(err.errno, words, name) from err


def names_beneath(root: Path, steps: Sequence[str]) -> list[str]:
    """Return the names in a folder, sorted; none where it is not there. OSError for a link."""
    try:
        with opened(root, steps) as folder, os.scandir(folder) as found:
            names = [entry.name for entry, _ in zip(found, range(MOST_FILES), strict=False)]
    except FileNotFoundError:
        return []
    return sorted(names)


def read_in(root: Path, steps: Sequence[str], name: str, *, limit: int) -> bytes:
    """Return the bytes of ``root/steps…/name``, ``limit`` + 1 at most; no link is followed."""
    with opened(root, steps) as folder:
        return _read(folder, name, limit=limit)


def _read(folder: int, name: str, *, limit: int) -> bytes:
    file = os.open(name, _FILE, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "expected a regular file", name)
        with os.fdopen(file, "rb", closefd=False) as stream:
            return stream.read(limit + 1)
    finally:
        os.close(file)
