"""Addresses of the box's loopback that stand for names, and the listeners behind each.

All of 127/8 is the box's own, so no route is needed: a program that asks for a name and ignores the
proxy connects to one of these, and the connection leaves with the name that it asked for.
"""

from __future__ import annotations

import errno
import socket
from collections import OrderedDict
from typing import TYPE_CHECKING

from listener import Listener

if TYPE_CHECKING:
    from collections.abc import Callable

    from listener import Arrival
    from side_loop import SideLoop

    OnArrival = Callable[[Arrival, str, int], None]

FIRST, LAST = 0x7F40_0001, 0x7F7F_FFFE
"""127.64.0.1 to 127.127.255.254."""
MOST_LISTENERS = 2048


class NameAddresses:
    """Keeps an address for each name, and forgets the ones that were asked for longest ago."""

    def __init__(self, loop: SideLoop, ports: tuple[int, ...], on_arrival: OnArrival) -> None:
        """``on_arrival`` is given a connection with the name and port that it was made to."""
        self._loop = loop
        self._ports = ports
        self._on_arrival = on_arrival
        self._most = max(1, MOST_LISTENERS // max(1, len(ports)))
        self._next = FIRST
        self._names: OrderedDict[str, tuple[str, list[Listener]]] = OrderedDict()

    def address(self, name: str) -> str | None:
        """Return a name's address, listened at; None where nothing can listen."""
        found = self._names.get(name)
        if found is None:
            found = self._add(name)
            if found is None:
                return None
            self._names[name] = found
        self._names.move_to_end(name)
        while len(self._names) > self._most:
            self._forget_one()
        return found[0]

    def close(self) -> None:
        """Listen no more."""
        while self._names:
            self._forget_one()

    def _add(self, name: str) -> tuple[str, list[Listener]] | None:
        # Never soon the one that was another name's: a program may still have that in mind.
        address = socket.inet_ntoa(self._next.to_bytes(4, "big"))
        self._next = FIRST if self._next == LAST else self._next + 1
        listeners: list[Listener] = []
        for port in self._ports:
            try:
                listeners.append(Listener(self._loop, (address, port), self._arrival(name, port)))
            except OSError as err:
                # A port that a program has on all addresses reaches that program.
                if err.errno == errno.EADDRINUSE:
                    continue
                for listener in listeners:
                    listener.close()
                return None
        return (address, listeners) if listeners else None

    def _arrival(self, name: str, port: int) -> Callable[[Arrival], None]:
        return lambda arrival: self._on_arrival(arrival, name, port)

    def _forget_one(self) -> None:
        _, (_, listeners) = self._names.popitem(last=False)
        for listener in listeners:
            listener.close()
