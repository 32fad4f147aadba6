"""A listening socket of the server's on the box's loopback."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from side_loop import SideLoop

BACKLOG = 512


class Arrival(NamedTuple):
    """A connection that a program made; it may be broken again already."""

    connection: socket.socket
    here: tuple[str, int]
    there: tuple[str, int]
    """The program's end."""


class Listener:
    """Gives each connection to ``on_arrival`` while its loop runs."""

    def __init__(
        self,
        loop: SideLoop,
        address: tuple[str, int],
        on_arrival: Callable[[Arrival], None],
    ) -> None:
        """Listen; OSError that names the port where it is taken."""
        self._loop = loop
        self._on_arrival = on_arrival
        self._address = address
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            # Connections of an earlier way out may still be ending there.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(address)
            self._socket.listen(BACKLOG)
            self._socket.setblocking(False)
        except OSError as err:
            self._socket.close()
            raise OSError(err.errno, f"port {address[1]} of the box: {err.strerror}") from err
        loop.on_readable(self._socket.fileno(), self._accept)

    def close(self) -> None:
        """Listen no more; what waits is broken off."""
        if self._socket.fileno() >= 0:
            self._loop.on_readable(self._socket.fileno(), None)
            self._socket.close()

    def _accept(self) -> None:
        if self._loop.paused:
            return
        try:
            connection, there = self._socket.accept()
        except OSError:
            # It may be gone again, or no descriptor free: then it waits for the next turn.
            return
        try:
            self._on_arrival(Arrival(connection, self._address, there))
        except OSError:
            connection.close()
