"""Moving file contents: bounded, whole, or by sharing blocks."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress

from orchestrator.workspace.contents import read_chunks

_FICLONE = 0x40049409
"""From linux/fs.h: share another file's blocks until one of the two is written to."""


def at_most(size: int, source: int) -> Iterator[bytes]:
    """Yield a file's bytes, and stop soon after ``size``: somebody may write without end."""
    left = size
    for data in read_chunks(source):
        yield data
        left -= len(data)
        if left < 0:
            return


def clone(source: int, into: int) -> bool:
    """Give ``into`` the content of ``source`` by sharing blocks; False where that cannot be."""
    with suppress(OSError):
        fcntl.ioctl(into, _FICLONE, source)
        return True
    return False


def write_all(fd: int, data: bytes) -> None:
    """Write every byte."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
