"""The box's way out: listeners on its loopback, whose connections go to the host as streams.

Loaded when the host lets something out. Nothing here decides what may leave: the host does.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import authorities
import trust
from frames import BOX_NUMBERS, WINDOW
from leaving_stream import LeavingStream
from side_loop import SideLoop

if TYPE_CHECKING:
    from collections.abc import Callable

    from frames import Frame
    from link import Link
    from loop import Loop

LOOPBACK = "127.0.0.1"
MOST = 512
"""Connections at a time; more wait to be accepted."""
MANY = 64
"""Connections beyond which each new one has a small window, so that all together stay small."""
SMALL_WINDOW = WINDOW // 4
BACKLOG = 512
_ACCEPTS = 8
"""Connections accepted from one listener in a turn."""


class WayOut:
    """The listeners, and every connection that is open through them."""

    def __init__(self, loop: Loop, *, most: int = MOST, trusted: str = trust.TRUST) -> None:
        self._most = most
        self._trusted = trusted
        self._side = SideLoop(loop)
        self._link: Link | None = None
        self._listeners: list[Listener] = []
        self._open: dict[int, LeavingStream] = {}
        self._latest = BOX_NUMBERS

    def begin(self, way: dict[str, Any], link: Link) -> None:
        """Listen; OSError, with what was taken in its words, where a program has a port already."""
        self.end()
        self._link = link
        try:
            authorities.extend(way["certificates"], self._trusted)
            self._listen("proxy", int(way["proxy_port"]))
            if way["model_port"] is not None:
                self._listen("model", int(way["model_port"]))
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Listen no more, break off what is open, and trust what the image trusts."""
        trust.begin(self._trusted)
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()
        for stream in list(self._open.values()):
            stream.drop()
        self._link = None

    def take(self, frame: Frame) -> None:
        """Act on one message of the host; what is for a connection that is over is dropped."""
        stream = self._open.get(frame.call)
        if stream is not None:
            stream.take(frame)

    def _listen(self, door: str, port: int) -> None:
        def arrived(connection: socket.socket) -> None:
            self._leave(connection, {"door": door})

        self._listeners.append(Listener(self._side, (LOOPBACK, port), arrived))

    def _leave(self, connection: socket.socket, told: dict[str, Any]) -> None:
        if self._link is None:
            connection.close()
            return
        self._latest += 1
        stream = LeavingStream(self._side, self._link, self._latest, on_end=self._forget)
        self._open[stream.number] = stream
        window = WINDOW if len(self._open) <= MANY else SMALL_WINDOW
        stream.leave(connection, told, window)
        if len(self._open) >= self._most:
            for listener in self._listeners:
                listener.pause()

    def _forget(self, number: int) -> None:
        self._open.pop(number, None)
        if len(self._open) == self._most - 1:
            for listener in self._listeners:
                listener.go_on()


class Listener:
    """One listening socket; ``on_arrival`` is given each connection."""

    def __init__(
        self,
        loop: SideLoop,
        address: tuple[str, int],
        on_arrival: Callable[[socket.socket], None],
    ) -> None:
        self._loop = loop
        self._on_arrival = on_arrival
        self._listening = False
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
        self.go_on()

    def go_on(self) -> None:
        """Accept what comes."""
        if not self._listening and self._socket.fileno() >= 0:
            self._listening = True
            self._loop.on_readable(self._socket.fileno(), self._accept)

    def pause(self) -> None:
        """Let what comes wait."""
        if self._listening:
            self._listening = False
            self._loop.on_readable(self._socket.fileno(), None)

    def close(self) -> None:
        """Listen no more; what waits is broken off."""
        self.pause()
        self._socket.close()

    def _accept(self) -> None:
        for _ in range(_ACCEPTS):
            if not self._listening:
                return
            try:
                connection, _ = self._socket.accept()
            except OSError:
                # It may be gone again, or no descriptor free: then it waits for the next turn.
                return
            self._on_arrival(connection)
