"""A connection that a program of the box made to one of the server's listeners: a way to the host.

The other role of ``stream``: this end opens it, the host says how it ended.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import TYPE_CHECKING, Any

from frames import CANCEL, END, OPEN, RESULT
from stream import READ_SIZE, Stream

if TYPE_CHECKING:
    from frames import Frame

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: a close that the program sees as a broken connection."""
FLUSH_SECONDS = 30.0
"""How long a program may take to read the rest of an answer that is over."""
LINGER_SECONDS = 2.0
"""How long what a program still sends is read away, so that it gets to read the answer."""


class LeavingStream(Stream):
    """One connection, from its arrival until the host's RESULT and the last byte of the answer."""

    connection: socket.socket
    _cancelled = False
    _settled = False
    _timer = 0

    def leave(self, connection: socket.socket, told: dict[str, Any], window: int) -> None:
        """Offer it to the host; nothing is read of it until the host takes it."""
        self.connection = connection
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.window = window
        self._fd = connection.fileno()
        self._link.send(self.number, OPEN, json.dumps({"from": told, "credit": window}).encode())

    def take(self, frame: Frame) -> None:
        """Act on one message of the host."""
        if frame.kind == RESULT:
            self._settle(json.loads(frame.payload))
        elif not (self._cancelled or self._settled):
            super().take(frame)

    def break_off(self) -> None:
        """Tell the host that the program is gone; its RESULT is still to come."""
        if not (self._cancelled or self._settled):
            self._cancelled = True
            self._reset()
            self._link.send(self.number, CANCEL)

    def drop(self) -> None:
        """Break it off at this end alone: the host is told by other means, or is gone."""
        if not self._done:
            self._reset()
        self._on_end(self.number)

    def finish(self, result: dict[str, Any]) -> None:  # noqa: ARG002 - the host has the last word
        """Break it off: the host sent what it may not."""
        self.break_off()

    def read(self, size: int) -> bytes:
        """Return what the program sent; a broken connection is none that has ended."""
        try:
            return super().read(size)
        except ConnectionError:
            self.break_off()
            raise BlockingIOError from None

    def release(self) -> None:
        """Close the connection."""
        self._waits.cancel(self._timer)
        self._waits.on_readable(self._fd, None)
        self.connection.close()

    def output_ended(self) -> None:
        """Pass the program's last word on."""
        self._link.send(self.number, END)

    def input_ended(self) -> None:
        """Pass the host's last word on."""
        try:
            self.connection.shutdown(socket.SHUT_WR)
        except OSError:
            self.break_off()
            return
        if self._settled:
            self._linger()

    def input_refused(self) -> None:
        """Break it off, as nobody reads the answer."""
        self.break_off()

    def _settle(self, result: dict[str, Any]) -> None:
        """Act on the host's RESULT: an end in order when the host had said its last word."""
        self._settled = True
        self._on_end(self.number)
        if self._done:
            return
        if "error" in result:
            self._reset()
            return
        self._listen(False)
        if self._pending:
            self._timer = self._waits.after(FLUSH_SECONDS, self._reset)
        else:
            self._linger()

    def _linger(self) -> None:
        """Read away what the program still sends: unread, it would break what it has not read yet."""
        self._waits.cancel(self._timer)
        if self._output_over:
            self.let_go()
            return
        self._timer = self._waits.after(LINGER_SECONDS, self.let_go)
        self._waits.on_readable(self._fd, self._read_away)

    def _read_away(self) -> None:
        if self._done:
            return
        try:
            if self.connection.recv(READ_SIZE):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self.let_go()

    def _reset(self) -> None:
        if self._done:
            return
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.let_go()
