"""The box's way out: listeners on its loopback, whose connections go to the host as streams.

Loaded when the host lets something out. Nothing here decides what may leave: the host does.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import authorities
import trust
from callers import Callers
from frames import BOX_NUMBERS, OPEN, RESULT, WINDOW
from leaving_stream import LeavingStream
from link import Link
from listener import Listener
from name_addresses import NameAddresses
from name_server import PORT, NameServer
from passed import Passed
from side_loop import SideLoop

if TYPE_CHECKING:
    from collections.abc import Callable

    from config import Config
    from frames import Frame
    from listener import Arrival
    from loop import Loop
    from name_server import Origin

    OnAnswer = Callable[[bool], None]

_JAVA = "JAVA_TOOL_OPTIONS"
LOOPBACK = "127.0.0.1"
MOST = 512
"""Connections at a time; more wait to be accepted."""
MANY = 64
"""Connections beyond which each new one has a small window, so that all together stay small."""
SMALL_WINDOW = WINDOW // 4


class WayOut:
    """The listeners, and every connection that is open through them."""

    def __init__(
        self,
        loop: Loop,
        config: Config,
        *,
        on_variables: Callable[[], None],
        most: int = MOST,
        trusted: str = trust.TRUST,
    ) -> None:
        """``on_variables`` is called when commands get other variables than before."""
        self._config = config
        self._on_variables = on_variables
        self._closed = dict(config.environment)
        """The variables of commands while nothing is let out."""
        self._most = most
        self._trusted = trusted
        self._bytes = SideLoop(loop)
        self._arrivals = SideLoop(loop)
        self._callers = Callers(config)
        self._passed = Passed()
        self._own_link: Link | None = None
        """Where the host gave one for the bytes alone, so that they delay no call."""
        self._link: Link | None = None
        self._doors: list[Listener | NameAddresses | NameServer] = []
        self._open: dict[int, LeavingStream] = {}
        self._asked: dict[int, OnAnswer] = {}
        self._latest = BOX_NUMBERS

    def handle(self, request: dict[str, Any], link: Link) -> dict[str, Any]:
        """Do what the host asks of the way out, and return the answer."""
        kind = request["kind"]
        if kind == "expect_link":
            if link.is_socket:
                link.receive_by(self._passed.receive)
            return {"data": {"taken": link.is_socket}}
        if kind == "take_link":
            link.receive_by(None)
            return {"data": {"taken": self._take_link()}}
        way = request["way"]
        try:
            if way is None:
                self.end()
            else:
                self.begin(way, link)
        except OSError as err:
            return {"error": err.strerror or str(err), "code": "unavailable"}
        finally:
            self._tell_commands({} if self._link is None else way["environment"])
        return {"data": {}}

    def begin(self, way: dict[str, Any], link: Link) -> None:
        """Listen; OSError, with what was taken in its words, where a program has a port already."""
        self.end()
        self._link = self._own_link or link
        try:
            authorities.extend(way["certificates"], self._trusted)
            self._listen("proxy", int(way["proxy_port"]))
            if way["model_port"] is not None:
                self._listen("model", int(way["model_port"]))
            if way["transparent_ports"]:
                names = NameAddresses(
                    self._arrivals, tuple(way["transparent_ports"]), self._leave_for
                )
                self._doors.append(names)
                self._doors.append(NameServer(self._arrivals, self._ask, names.address))
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Listen no more, break off what is open, and trust what the image trusts."""
        trust.begin(self._trusted)
        for door in self._doors:
            door.close()
        self._doors.clear()
        for stream in list(self._open.values()):
            stream.drop()
        self._asked.clear()
        self._link = None

    def take(self, frame: Frame) -> None:
        """Act on one message of the host; what is for a connection that is over is dropped."""
        stream = self._open.get(frame.call)
        if stream is not None:
            stream.take(frame)
        elif frame.kind == RESULT and (heard := self._asked.pop(frame.call, None)) is not None:
            heard(json.loads(frame.payload).get("data", {}).get("known") is True)

    def _take_link(self) -> bool:
        if self._own_link is not None:
            self._own_link.close()
            self._own_link = None
        descriptor = self._passed.take()
        if descriptor is None:
            return False
        link = self._own_link = Link(self._bytes, descriptor, descriptor)
        link.open(self.take, lambda _reason: self._link_ended(link))
        return True

    def _link_ended(self, link: Link) -> None:
        link.close()
        if self._own_link is link:
            self._own_link = None
            self.end()
            self._tell_commands({})

    def _tell_commands(self, variables: dict[str, str]) -> None:
        environment = self._closed | variables
        if _JAVA in self._closed and _JAVA in variables:
            # A list, of which the image's own part still counts.
            environment[_JAVA] = f"{self._closed[_JAVA]} {variables[_JAVA]}"
        if environment != self._config.environment:
            self._config.environment.clear()
            self._config.environment.update(environment)
            self._on_variables()

    def _listen(self, door: str, port: int) -> None:
        def arrived(arrival: Arrival) -> None:
            self._leave(arrival, {"door": door})

        self._doors.append(Listener(self._arrivals, (LOOPBACK, port), arrived))

    def _leave_for(self, arrival: Arrival, name: str, port: int) -> None:
        self._leave(arrival, {"door": "transparent", "host": name, "port": port})

    def _leave(self, arrival: Arrival, told: dict[str, Any]) -> None:
        if self._link is None:
            arrival.connection.close()
            return
        told["caller"] = self._callers.find(arrival.here, arrival.there)
        stream = LeavingStream(self._bytes, self._link, self._new_number(), on_end=self._forget)
        self._open[stream.number] = stream
        window = WINDOW if len(self._open) <= MANY else SMALL_WINDOW
        try:
            stream.leave(arrival.connection, told, window)
        except OSError:
            self._forget(stream.number)
            raise
        if len(self._open) >= self._most:
            self._arrivals.pause()

    def _ask(self, name: str, origin: Origin, heard: OnAnswer) -> None:
        if self._link is None:
            return
        caller = self._callers.find((LOOPBACK, PORT), origin.end, origin.kind)
        number = self._new_number()
        self._asked[number] = heard
        body = {"from": {"name": name, "caller": caller}, "credit": 0}
        self._link.send(number, OPEN, json.dumps(body).encode())

    def _new_number(self) -> int:
        self._latest += 1
        return self._latest

    def _forget(self, number: int) -> None:
        self._open.pop(number, None)
        if len(self._open) < self._most:
            self._arrivals.go_on()
