"""A stream to a server on the box's own loopback, connected to as the command's user."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

from frames import END
from privilege import as_command
from stream import Stream

if TYPE_CHECKING:
    from config import Config

LOOPBACK = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
"""In this order: many servers listen on one of them alone."""
CONNECT_SECONDS = 5.0


class TcpStream(Stream):
    """One connection."""

    def connect(self, config: Config, port: int) -> None:
        """Connect; the stream begins, or ends with the reason."""
        self._config = config
        self._port = port
        self._ways = list(LOOPBACK)
        self._timer = self._waits.after(CONNECT_SECONDS, lambda: self._give_up("it took too long"))
        self._reason = ""
        self._socket: socket.socket | None = None
        self._input_over = False
        if 0 < port < 65_536:
            self._try_next()
        else:
            self._give_up("a number from 1 to 65535 expected")

    def release(self) -> None:
        """Close the connection."""
        self._waits.cancel(self._timer)
        self._drop()

    def output_ended(self) -> None:
        """Tell the host, and wait for its last word where that has not come."""
        self._link.send(self.number, END)
        if self._input_over:
            self.finish({"data": {}})

    def input_ended(self) -> None:
        """Pass the host's last word on."""
        self._input_over = True
        if self._output_over:
            self.finish({"data": {}})
        elif self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_WR)
            except OSError:
                self.finish({"data": {}})

    def _try_next(self) -> None:
        self._drop()
        if not self._ways:
            self._give_up(self._reason)
            return
        family, address = self._ways.pop(0)
        try:
            with as_command(self._config):
                trying = self._socket = socket.socket(family, socket.SOCK_STREAM)
                trying.setblocking(False)
                trying.connect((address, self._port))
        except BlockingIOError:
            self._waits.on_writable(trying.fileno(), self._connected)
        except OSError as err:
            self._reason = self._reason or _words(err.errno)
            self._try_next()
        else:
            self._connected()

    def _connected(self) -> None:
        if self._socket is None:
            return
        self._waits.on_writable(self._socket.fileno(), None)
        problem = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if problem:
            self._reason = self._reason or _words(problem)
            self._try_next()
            return
        self._waits.cancel(self._timer)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.begin(self._socket.fileno())
        self._write()

    def _drop(self) -> None:
        if self._socket is not None:
            self._waits.on_writable(self._socket.fileno(), None)
            self._socket.close()
            self._socket = None

    def _give_up(self, reason: str) -> None:
        message = f"port {self._port} of the box: {reason}"
        self.finish({"error": message, "code": "unavailable"})


def _words(number: int | None) -> str:
    return os.strerror(number or 0).lower()
