"""A hold that can be passed on: a locked file, alive as long as any process has its descriptor.

What the engine keeps for a box is owned by whoever holds its lease. Another process takes the box
over by being handed the descriptor; when the last holder dies, the kernel gives the lock up.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from orchestrator.engine.labels import lease_label


class Lease:
    """A held lease; keep it until everything that it stands for is gone."""

    def __init__(self, path: Path, fd: int) -> None:
        """Take a locked descriptor over."""
        self.path = path
        self._fd = fd

    @classmethod
    def take(cls, path: Path) -> Lease:
        """Lock the file, made where it lacks; BlockingIOError when somebody has it."""
        while True:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(path, fd):
                    return cls(path, fd)
            except BaseException:
                os.close(fd)
                raise
            # Removed between the two steps by its last holder: another one may be there by now.
            os.close(fd)

    @property
    def label(self) -> str:
        """Return the owner's label of what the lease stands for; see ``labels.is_alive``."""
        return lease_label(self.path)

    def fileno(self) -> int:
        """Return the descriptor, to be passed on."""
        return self._fd

    def close(self) -> None:
        """Let go; the lock ends where nobody else was handed the descriptor."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def _is_at(path: Path, fd: int) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(fd))
