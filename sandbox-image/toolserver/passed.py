"""Descriptors that the host passes beside the bytes of a Unix socket."""

from __future__ import annotations

import array
import os
import socket

MOST = 4
"""In one reading; the host passes one."""


class Passed:
    """Reads a connection in the link's stead, and keeps the descriptors that came along."""

    def __init__(self) -> None:
        self._descriptors: list[int] = []

    def receive(self, fd: int, size: int) -> bytes:
        """Return what is there, as ``os.read`` would."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=fd)
        try:
            room = socket.CMSG_SPACE(MOST * array.array("i").itemsize)
            data, beside, _, _ = connection.recvmsg(size, room, socket.MSG_CMSG_CLOEXEC)
        finally:
            connection.detach()
        for level, kind, content in beside:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                found = array.array("i")
                found.frombytes(content[: len(content) - len(content) % found.itemsize])
                self._descriptors += found
        return data

    def take(self) -> int | None:
        """Return the descriptor that came last, and close any other; None where none came."""
        for descriptor in self._descriptors[:-1]:
            os.close(descriptor)
        last = self._descriptors[-1] if self._descriptors else None
        self._descriptors.clear()
        return last
