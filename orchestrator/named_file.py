"""A file that a user names or a program keeps, read without waiting for what is no file.

Raises nothing but OSError.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_OWN_INPUT = re.compile(r"/dev/(?:stdin|fd/\d+)\Z|/proc/(?:self|\d+)/fd/\d+\Z")
"""What the caller's shell opened: ``/dev/stdin`` and ``<(command)``. Whoever names it waits for it."""
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of errors of writing that end once space is free."""
_NULL = os.makedev(1, 3)
"""``/dev/null``, in whose place a link often stands for an empty file."""


def read_named(path: Path, *, limit: int) -> bytes:
    """Return a file's bytes, ``limit`` + 1 at most; OSError with words for what cannot be read.

    Regular files are read, ``/dev/null``, and what the caller opened itself; a named pipe or a
    device could hold up for ever and is refused.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError as err:
        raise OSError(errno.EINVAL, "no file name holds a NUL", str(path)) from err
    try:
        found = os.fstat(file)
        own = _OWN_INPUT.match(str(path)) is not None and not stat.S_ISDIR(found.st_mode)
        null = stat.S_ISCHR(found.st_mode) and found.st_rdev == _NULL
        if not (stat.S_ISREG(found.st_mode) or own or null):
            raise _of_another_kind(path, found)
        os.set_blocking(file, True)
        with os.fdopen(file, "rb", closefd=False) as stream:
            return stream.read(limit + 1)
    finally:
        os.close(file)


@contextmanager
def opened_regular(path: Path) -> Iterator[BinaryIO]:
    """Give a file that a program keeps, open to be read, and no other kind of thing.

    OSError for a link, which a program would not have made, and for whatever is no regular file.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
    try:
        file = os.open(path, flags)
    except OSError as err:
        if err.errno != errno.ELOOP:
            raise
        words = "expected a regular file, got a symbolic link"
        raise OSError(err.errno, words, str(path)) from err
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise _of_another_kind(path, found)
        with os.fdopen(file, "rb", closefd=False) as stream:
            yield stream
    finally:
        os.close(file)


def _of_another_kind(path: Path, found: os.stat_result) -> OSError:
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
    return OSError(errno.EINVAL, f"expected a regular file, got {kind}", str(path))


def is_regular(path: Path) -> bool:
    """Say whether a regular file is there; a name that no file can have means none."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def real_path(path: Path) -> Path:
    """Return where a path leads; one that leads in a circle stays, and fails when it is opened."""
    return Path(os.path.realpath(path))
