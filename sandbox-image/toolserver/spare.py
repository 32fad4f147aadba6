"""A spare: a child started beforehand that waits, still root, to become a command.

Starting a process that can change its user takes as long as starting bash; done in advance, it
costs a call nothing. ``spare.c`` is the child.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from typing import TYPE_CHECKING

from privilege import MAX_OPEN_FILES, as_command

if TYPE_CHECKING:
    from typing import Any

    from config import Config
    from terminal import Terminal
    from witness import Witness

PROGRAM = "/opt/glovebox/spare"
MAX_COMMAND = 131_071
"""Bytes; the kernel takes no longer argument (MAX_ARG_STRLEN)."""

_HEAD = struct.Struct("=QII")
_ORDER, _FAILURE, _WITNESS = 3, 4, 5
_ORDER_PIPE = 1024 * 1024
_PLAIN_PIPE = 60_000


def reserve_descriptors() -> None:
    """Take the numbers that spares use for themselves, so that no pipe is ever in the way."""
    while os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC) < _WITNESS:
        pass


class Spare:
    """The server's end of one waiting child.

    Without more, it reads nothing and writes to a pipe. ``takes_input`` gives it a pipe to read
    too; a ``terminal`` is all three of its standard streams and its controlling terminal. Either is
    started when it is asked for, and does not wait beforehand. What may not write can make, shrink
    and remove files but give none a byte.
    """

    def __init__(
        self,
        config: Config,
        *,
        witness: Witness | None,
        takes_input: bool = False,
        apart: bool = False,
        terminal: Terminal | None = None,
        may_write: bool = True,
    ) -> None:
        """Start it; BlockingIOError when the box may have no more processes.

        ``witness`` sees what it starts; None for a person's own terminal. ``apart`` gives its
        standard error a pipe of its own.
        """
        self._witness = witness
        self._number = witness.number() if witness is not None else 0
        order_read, self._order = os.pipe2(os.O_CLOEXEC)
        self._failure, failure_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self.terminal = terminal
        self.errors = -1
        """Where its standard error is read from, non-blocking; -1 where that is the output's."""
        self.input = -1
        """Where its standard input is written to, non-blocking; -1 where it reads nothing."""
        if terminal is not None:
            self.input = self.output = terminal.master
            theirs = [terminal.slave]
            streams: list[tuple[Any, ...]] = [
                (os.POSIX_SPAWN_DUP2, terminal.slave, fd) for fd in (0, 1, 2)
            ]
        else:
            # The kernel lets their owner alone open them by a name such as /dev/stderr.
            with as_command(config):
                theirs, streams = self._pipes(takes_input, apart=apart)
        if witness is not None and self._number:
            streams = [*streams, (os.POSIX_SPAWN_DUP2, witness.calls, _WITNESS)]
        file_size = config.limits.file_size if may_write else 0
        ids = (config.uid, config.gid, file_size, MAX_OPEN_FILES, self._number)
        try:
            self.pid = os.posix_spawn(
                PROGRAM,
                ["spare", *(str(number) for number in ids), *(("terminal",) if terminal else ())],
                {**config.environment, **(terminal.environment if terminal else {})},
                file_actions=[
                    *streams,
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
            for fd in (order_read, failure_write, *theirs):
                os.close(fd)
        os.set_blocking(self.output, False)

    def _pipes(self, takes_input: bool, *, apart: bool) -> tuple[list[int], list[tuple[Any, ...]]]:
        """Return the child's ends, and what makes them its streams."""
        self.output, output_write = os.pipe2(os.O_CLOEXEC)
        ends = [output_write]
        errors_write = output_write
        if apart:
            self.errors, errors_write = os.pipe2(os.O_CLOEXEC)
            os.set_blocking(self.errors, False)
            ends.append(errors_write)
        # Never a socket: bash would take itself for a remote shell, read ~/.bashrc.
        source: tuple[Any, ...] = (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)
        if takes_input:
            input_read, self.input = os.pipe2(os.O_CLOEXEC)
            os.set_blocking(self.input, False)
            ends.append(input_read)
            source = (os.POSIX_SPAWN_DUP2, input_read, 0)
        return ends, [
            source,
            (os.POSIX_SPAWN_DUP2, output_write, 1),
            (os.POSIX_SPAWN_DUP2, errors_write, 2),
        ]

    def follow(self, call: int) -> None:
        """Have what it starts from now on reported as the call's."""
        if self._witness is not None:
            self._witness.follow(self._number, call, self.pid)

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

    def read(self, size: int) -> bytes:
        """Return what it printed, nothing at its end; BlockingIOError when there is nothing yet."""
        try:
            return os.read(self.output, size)
        except OSError as err:
            # How a terminal says that nobody holds its other end any more.
            if err.errno == errno.EIO:
                return b""
            raise

    def failure(self) -> str | None:
        """Say why it could not become the command; None when it did. Call it once, at the end."""
        try:
            reason = os.read(self._failure, 4096)
        except BlockingIOError:
            reason = b""
        os.close(self._failure)
        self._failure = -1
        return reason.decode("utf-8", "replace") or None

    def close_input(self) -> None:
        """End its standard input; a terminal has no such end, and is told by its EOF character."""
        if self.input >= 0 and self.input != self.output:
            os.close(self.input)
            self.input = -1

    def discard(self) -> None:
        """Close what is left; a child that still waits ends by it."""
        for fd in {self._order, self.input, self.output, self.errors, self._failure}:
            if fd >= 0:
                os.close(fd)
        self._order = self.input = self.output = self.errors = self._failure = -1
