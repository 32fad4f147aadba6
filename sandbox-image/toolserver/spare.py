"""A spare: a child started beforehand that waits, still root, to become a command.

Starting a process that can change its user takes as long as starting bash; done in advance, it
costs a call nothing. ``spare.c`` is the child.
"""

from __future__ import annotations

import fcntl
import os
import struct
from typing import TYPE_CHECKING

from privilege import MAX_OPEN_FILES

if TYPE_CHECKING:
    from config import Config

PROGRAM = "/opt/glovebox/spare"
MAX_COMMAND = 131_071
"""Bytes; the kernel takes no longer argument (MAX_ARG_STRLEN)."""

_HEAD = struct.Struct("=QII")
_ORDER, _FAILURE = 3, 4
_ORDER_PIPE = 1024 * 1024
_PLAIN_PIPE = 60_000


def reserve_descriptors() -> None:
    """Take the numbers that spares use for themselves, so that no pipe is ever in the way."""
    while os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC) < _FAILURE:
        pass


class Spare:
    """The server's end of one waiting child."""

    def __init__(self, config: Config) -> None:
        """Start it; BlockingIOError when the box may have no more processes."""
        order_read, self._order = os.pipe2(os.O_CLOEXEC)
        self.output, output_write = os.pipe2(os.O_CLOEXEC)
        self._failure, failure_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        ids = (config.uid, config.gid, config.limits.file_size, MAX_OPEN_FILES)
        try:
            self.pid = os.posix_spawn(
                PROGRAM,
                ["spare", *(str(number) for number in ids)],
                config.environment,
                file_actions=[
                    # Never a socket: bash would take itself for a remote shell, read ~/.bashrc.
                    (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, output_write, 1),
                    (os.POSIX_SPAWN_DUP2, output_write, 2),
                    (os.POSIX_SPAWN_DUP2, order_read, _ORDER),
                    (os.POSIX_SPAWN_DUP2, failure_write, _FAILURE),
                ],
                setsid=True,
                setsigmask=(),
            )
        except OSError:
            self.discard()
            raise
        finally:
            for fd in (order_read, output_write, failure_write):
                os.close(fd)
        os.set_blocking(self.output, False)

    def start(self, command: bytes, cwd: bytes, mark: int) -> None:
        """Make it the command; BrokenPipeError, and discarded, where it died while it waited."""
        order = _HEAD.pack(mark, len(cwd), len(command)) + cwd + command
        if len(order) > _PLAIN_PIPE:
            fcntl.fcntl(self._order, fcntl.F_SETPIPE_SZ, _ORDER_PIPE)
        try:
            os.write(self._order, order)
        except BrokenPipeError:
            self.discard()
            raise
        os.close(self._order)
        self._order = -1

    def failure(self) -> str | None:
        """Say why it could not become the command; None when it did. Call it once, at the end."""
        try:
            reason = os.read(self._failure, 4096)
        except BlockingIOError:
            reason = b""
        os.close(self._failure)
        self._failure = -1
        return reason.decode("utf-8", "replace") or None

    def discard(self) -> None:
        """Close what is left; a child that still waits ends by it."""
        for fd in (self._order, self.output, self._failure):
            if fd >= 0:
                os.close(fd)
        self._order = self.output = self._failure = -1
