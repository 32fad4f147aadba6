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
_NOT_BELOW = frozenset({"", ".", ".."})
MOST_FILES = 200
"""Looked at in one folder."""


@contextmanager
def opened(root: Path, steps: Sequence[str] = ()) -> Iterator[int]:
    """Give the folder ``root/steps…``, opened without following a link below ``root``.

    OSError for a step that is no single name below: each is opened on the one before.
    """
    if any(step in _NOT_BELOW or "/" in step for step in steps):
        raise OSError(errno.EINVAL, "expected names below the folder", "/".join(steps))
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

    ``name`` may have folders in it, which are no links. A link may lead to a file in the same folder
    or below it, once. OSError with words for anything else that is no regular file.
    """
    steps, last = _split(name)
    try:
        with opened(root, steps) as folder:
            try:
                return _read(folder, last, limit=limit)
            except OSError as err:
                if err.errno != errno.ELOOP:
                    raise
                target = PurePosixPath(os.readlink(last, dir_fd=folder))
    except FileNotFoundError:
        return None
    if target.is_absolute() or ".." in target.parts or not target.parts:
        raise OSError(errno.ELOOP, "a link that leads out of its folder is not followed", name)
    try:
        with opened(root, (*steps, *target.parts[:-1])) as folder:
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
    below, last = _split(name)
    with opened(root, (*steps, *below)) as folder:
        return _read(folder, last, limit=limit)


def _split(name: str) -> tuple[list[str], str]:
    """Return the folders in a name, and what is in them; OSError for what leads out or to none."""
    *steps, last = name.split("/")
    if last in _NOT_BELOW:
        raise OSError(errno.EINVAL, "expected the name of a file below the folder", name)
    return steps, last


def _read(folder: int, name: str, *, limit: int) -> bytes:
    file = os.open(name, _FILE, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "expected a regular file", name)
        with os.fdopen(file, "rb", closefd=False) as stream:
            return stream.read(limit + 1)
    finally:
        os.close(file)
