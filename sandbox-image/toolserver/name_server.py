"""The box's resolver: names that the host knows have an address in the box, others have none.

No question leaves the box; the host is asked whether a name may be looked up, and answers itself.
"""

from __future__ import annotations

import socket
import struct
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import dns_message
from dns_message import NOERROR, NXDOMAIN, SERVFAIL, Question

if TYPE_CHECKING:
    from collections.abc import Callable

    from side_loop import SideLoop

    Say = Callable[[bytes], None]
    Ask = Callable[[str, "Origin", Callable[[bool], None]], None]
    """Asks the host whether it knows a name; calls back once."""

PORT = 53
YES_SECONDS, NO_SECONDS = 5.0, 2.0
"""How long the host's word on a name counts; short, as its rules may change."""
MOST_CACHED = 4096
MOST_ASKED = 32
"""Names that the host is asked for at a time."""
MOST_A_SECOND = 100
"""Names that the host is asked for in a second; programs wait for seconds, and try again."""
MOST_WAITING = 256
"""Questions that wait for the host's word."""
MOST_CONNECTIONS = 16
IDLE_SECONDS = 5.0
_A_TURN = 16
"""Datagrams taken in a turn."""
_LENGTH = struct.Struct("!H")
_OWN = ("localhost",)
_NOBODYS = ("arpa",)
"""Addresses of the box have no names, and no others are there."""


class Origin(NamedTuple):
    """Where a question came from: ``udp`` or ``tcp``, and the address and port."""

    kind: str
    end: tuple[str, int]


class _Waiting(NamedTuple):
    question: Question
    say: Say


class NameServer:
    """Answers on UDP and TCP; ``address`` gives a known name's address, None where it has none."""

    def __init__(
        self, loop: SideLoop, ask: Ask, address: Callable[[str], str | None], *, port: int = PORT
    ) -> None:
        """Bind; OSError that names the port where it is taken."""
        self._loop = loop
        self._ask = ask
        self._address = address
        self._known: OrderedDict[str, tuple[bool, float]] = OrderedDict()
        self._waiting: dict[str, list[_Waiting]] = {}
        self._count = 0
        self._second, self._asked = 0, 0
        self._connections: dict[int, _Connection] = {}
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._udp.bind(("127.0.0.1", port))
            self._tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._tcp.bind(("127.0.0.1", self._udp.getsockname()[1]))
            self._tcp.listen(MOST_CONNECTIONS)
        except OSError as err:
            self._udp.close()
            self._tcp.close()
            raise OSError(err.errno, f"port {port} of the box: {err.strerror}") from err
        self.port = self._udp.getsockname()[1]
        for one, reader in ((self._udp, self._read), (self._tcp, self._accept)):
            one.setblocking(False)
            loop.on_readable(one.fileno(), reader)

    def close(self) -> None:
        """Answer nothing any more."""
        for one in (self._udp, self._tcp):
            if one.fileno() >= 0:
                self._loop.on_readable(one.fileno(), None)
                one.close()
        for connection in list(self._connections.values()):
            connection.close()
        self._waiting.clear()

    def handle(self, message: bytes, origin: Origin, say: Say) -> None:
        """Answer one message, now or when the host has spoken."""
        question = dns_message.parse(message)
        if question is None:
            return
        top = question.name.rpartition(".")[2]
        if question.error == NOERROR and top in _NOBODYS:
            question = question._replace(error=NXDOMAIN)
        if question.error != NOERROR:
            say(dns_message.answer(question, question.error))
        elif top in _OWN:
            self._answer(question, say, "127.0.0.1")
        else:
            self._judge(question, origin, say)

    def _judge(self, question: Question, origin: Origin, say: Say) -> None:
        name, now = question.name, time.monotonic()
        known, until = self._known.get(name, (False, 0.0))
        if now < until:
            self._tell(question, say, known=known)
            return
        waiting = self._waiting.get(name)
        if self._count >= MOST_WAITING or (waiting is None and not self._may_ask(now)):
            say(dns_message.answer(question, SERVFAIL))
            return
        self._count += 1
        if waiting is not None:
            waiting.append(_Waiting(question, say))
            return
        self._waiting[name] = [_Waiting(question, say)]
        self._ask(name, origin, lambda known: self._heard(name, known=known))

    def _may_ask(self, now: float) -> bool:
        if int(now) != self._second:
            self._second, self._asked = int(now), 0
        self._asked += 1
        return len(self._waiting) < MOST_ASKED and self._asked <= MOST_A_SECOND

    def _heard(self, name: str, *, known: bool) -> None:
        seconds = YES_SECONDS if known else NO_SECONDS
        self._known[name] = known, time.monotonic() + seconds
        self._known.move_to_end(name)
        if len(self._known) > MOST_CACHED:
            self._known.popitem(last=False)
        for question, say in self._waiting.pop(name, ()):
            self._count -= 1
            self._tell(question, say, known=known)

    def _tell(self, question: Question, say: Say, *, known: bool) -> None:
        if not known:
            say(dns_message.answer(question, NXDOMAIN))
            return
        address = self._address(question.name)
        if address is None:
            say(dns_message.answer(question, SERVFAIL))
        else:
            self._answer(question, say, address)

    def _answer(self, question: Question, say: Say, address: str) -> None:
        # Of other kinds there is nothing, which is no error: a program asks for several at once.
        kind = question.kind
        say(dns_message.answer(question, address=address if kind == dns_message.A else None))

    def _read(self) -> None:
        for _ in range(_A_TURN):
            if self._udp.fileno() < 0:
                return
            try:
                message, peer = self._udp.recvfrom(dns_message.MOST_MESSAGE + 1)
            except OSError:
                # Nothing there, or the word that an answer reached nobody.
                return
            self.handle(message, Origin("udp", peer), self._sayer(peer))

    def _sayer(self, peer: tuple[str, int]) -> Say:
        def say(message: bytes) -> None:
            try:
                self._udp.sendto(message, peer)
            except OSError:
                # Who asked is gone, or takes nothing: it asks again.
                return

        return say

    def _accept(self) -> None:
        try:
            connection, peer = self._tcp.accept()
        except OSError:
            return
        if len(self._connections) >= MOST_CONNECTIONS:
            connection.close()
            return
        one = _Connection(self, self._loop, connection, origin=Origin("tcp", peer))
        self._connections[connection.fileno()] = one

    def forget(self, fd: int) -> None:
        """Drop a connection that is closed."""
        self._connections.pop(fd, None)


class _Connection:
    """Questions over TCP, each with its length before it."""

    def __init__(
        self,
        server: NameServer,
        loop: SideLoop,
        connection: socket.socket,
        *,
        origin: Origin,
    ) -> None:
        self._server = server
        self._loop = loop
        self._socket = connection
        self._origin = origin
        self._buffer = bytearray()
        connection.setblocking(False)
        loop.on_readable(connection.fileno(), self._read)
        self._timer = loop.after(IDLE_SECONDS, self.close)

    def close(self) -> None:
        fd = self._socket.fileno()
        if fd < 0:
            return
        self._loop.cancel(self._timer)
        self._loop.on_readable(fd, None)
        self._socket.close()
        self._server.forget(fd)

    def _read(self) -> None:
        if self._socket.fileno() < 0:
            return
        try:
            data = self._socket.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            end = _LENGTH.size + _LENGTH.unpack_from(self._buffer)[0]
            if end > _LENGTH.size + dns_message.MOST_MESSAGE:
                self.close()
                return
            if len(self._buffer) < end:
                return
            message = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            self._server.handle(message, self._origin, self._say)

    def _say(self, message: bytes) -> None:
        if self._socket.fileno() < 0:
            return
        try:
            self._socket.send(_LENGTH.pack(len(message)) + message)
        except OSError:
            self.close()
