"""A spare: a child forked beforehand that waits, still root, to become a command.

Forking the server takes as long as starting bash; done in advance, it costs a call nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
from typing import TYPE_CHECKING, NoReturn

from privilege import drop_for_good, leave_server

if TYPE_CHECKING:
    from config import Config

SHELL = "/bin/bash"
MAX_COMMAND = 131_071
"""Bytes; the kernel takes no longer argument (MAX_ARG_STRLEN)."""

_LENGTH = struct.Struct("!I")
_ORDER_PIPE = 1024 * 1024
_PLAIN_PIPE = 60_000


class Spare:
    """The server's end of one waiting child."""

    def __init__(self, config: Config) -> None:
        """Fork it; BlockingIOError when the box may have no more processes."""
        order_read, self._order = os.pipe2(os.O_CLOEXEC)
        self.output, output_write = os.pipe2(os.O_CLOEXEC)
        self._failure, failure_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        ends = (order_read, output_write, failure_write)
        try:
            self.pid = os.fork()
        except OSError:
            self.discard()
            for fd in ends:
                os.close(fd)
            raise
        if self.pid == 0:
            _wait_and_become(config, *ends)
        for fd in ends:
            os.close(fd)
        os.set_blocking(self.output, False)

    def start(self, command: str, cwd: str, mark: int) -> None:
        """Make it the command."""
        order = json.dumps({"command": command, "cwd": cwd, "mark": mark}).encode()
        if len(order) > _PLAIN_PIPE:
            fcntl.fcntl(self._order, fcntl.F_SETPIPE_SZ, _ORDER_PIPE)
        os.write(self._order, _LENGTH.pack(len(order)) + order)
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


def _wait_and_become(config: Config, order: int, output: int, failure: int) -> NoReturn:
    try:
        null = os.open("/dev/null", os.O_RDONLY)
        # Never a socket as stdin: bash would take itself for a remote shell and read ~/.bashrc.
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.set_inheritable(failure, False)
        leave_server(config, keep=(order, failure))
        (size,) = _LENGTH.unpack(_read(order, _LENGTH.size))
        wanted = json.loads(_read(order, size))
        drop_for_good(config, wanted["mark"])
        os.chdir(wanted["cwd"])
        os.execve(SHELL, ["bash", "-c", wanted["command"]], config.environment)
    except EOFError:
        os._exit(0)
    # Whatever happens, this copy of the server must not go on as a second server.
    except BaseException as err:  # noqa: BLE001
        os.write(failure, _why(err).encode("utf-8", "replace")[:4000])
    os._exit(126)


def _read(fd: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = os.read(fd, size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def _why(err: BaseException) -> str:
    if isinstance(err, OSError) and err.filename:
        return f"{os.fsdecode(err.filename)}: {(err.strerror or '').lower()}"
    return f"{type(err).__name__}: {err}"
