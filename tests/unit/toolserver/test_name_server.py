import socket
import struct
import time
from contextlib import suppress

import pytest
from dns_message import AAAA, MOST_MESSAGE, A
from loop import Loop
from name_server import MOST_A_SECOND, MOST_ASKED, MOST_CONNECTIONS, NameServer, Origin
from side_loop import SideLoop

from tests.unit.toolserver.test_dns_message import asked


class Scene:
    """A server at work, and what the host was asked."""

    def __init__(self):
        self.loop = Loop()
        self.asked = []
        self.said = []
        self.server = NameServer(SideLoop(self.loop), self.ask, self.address, port=0)
        self.end = ("127.0.0.1", self.server.port)

    def ask(self, name, origin, heard):
        self.asked.append((name, origin.kind, heard))

    def address(self, name):
        return None if name == "full.example" else "127.64.0.1"

    def handle(self, name, kind=A):
        message = asked([part.encode() for part in name.split(".")], kind)
        self.server.handle(message, Origin("udp", ("127.0.0.1", 9)), self.said.append)

    def hear(self, *, known):
        self.asked[-1][2](known)

    def codes(self):
        return [(said[3] & 15, said[7]) for said in self.said]

    def turn(self, seconds=0.0):
        self.loop._stopped = False
        self.loop.after(seconds, self.loop.stop)
        self.loop.run()


@pytest.fixture
def scene():
    scene = Scene()
    yield scene
    scene.server.close()


def test_known_name_has_an_address_and_nothing_else(scene):
    """The host is asked once for all kinds; an unknown one does not exist."""
    for kind in (A, AAAA, 65):
        scene.handle("known.example", kind)
    assert [name for name, *_ in scene.asked] == ["known.example"]
    scene.hear(known=True)
    scene.handle("known.example")
    scene.handle("other.example")
    scene.hear(known=False)
    scene.handle("OTHER.example")

    assert scene.codes() == [(0, 1), (0, 0), (0, 0), (0, 1), (3, 0), (3, 0)]
    assert len(scene.asked) == 2


def test_own_names_are_answered_here(scene):
    """The host is not asked for them."""
    for name in ("localhost", "a.localhost", "1.0.64.127.in-addr.arpa"):
        scene.handle(name)

    assert scene.codes() == [(0, 1), (0, 1), (3, 0)]
    assert scene.said[0].endswith(bytes([127, 0, 0, 1]))
    assert scene.asked == []


def test_name_without_a_listener_fails_for_now(scene):
    """It is known, but nothing would take the connection."""
    scene.handle("full.example")
    scene.hear(known=True)

    assert scene.codes() == [(2, 0)]


def test_flood_asks_the_host_only_so_often(scene):
    """The rest is told to try again."""
    for number in range(2 * MOST_ASKED):
        scene.handle(f"n{number}.example")
    assert len(scene.asked) == MOST_ASKED
    for name, _, heard in list(scene.asked):
        assert name
        heard(False)
    began = time.monotonic()
    for number in range(20 * MOST_A_SECOND):
        scene.handle(f"m{number}.example")
        if len(scene.asked) > MOST_ASKED:
            scene.hear(known=False)
    seconds = time.monotonic() - began

    assert len(scene.asked) <= MOST_ASKED + MOST_A_SECOND * (int(seconds) + 2)
    assert scene.codes().count((2, 0)) > 10 * MOST_A_SECOND


def test_questions_come_by_udp_and_tcp(scene):
    """Over TCP several at once, cut anywhere."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.sendto(b"junk", scene.end)
        udp.sendto(asked([b"localhost"]), scene.end)
        scene.turn()
        udp.settimeout(5)
        assert udp.recv(512).endswith(bytes([127, 0, 0, 1]))
    message = asked([b"localhost"])
    with socket.create_connection(scene.end) as tcp:
        tcp.settimeout(5)
        both = 2 * (struct.pack("!H", len(message)) + message)
        for at in range(0, len(both), 7):
            tcp.sendall(both[at : at + 7])
            scene.turn(0.001)
        tcp.setblocking(False)
        said, end = b"", time.monotonic() + 10
        while said.count(bytes([127, 0, 0, 1])) < 2:
            assert time.monotonic() < end
            scene.turn(0.001)
            with suppress(BlockingIOError):
                said += tcp.recv(512)


def test_tcp_that_is_no_question_is_closed(scene):
    """So is one connection too many; the server goes on."""
    with socket.create_connection(scene.end) as tcp:
        tcp.settimeout(5)
        tcp.sendall(struct.pack("!H", MOST_MESSAGE + 1))
        scene.turn(0.02)
        assert tcp.recv(10) == b""
    many = [socket.create_connection(scene.end) for _ in range(MOST_CONNECTIONS + 1)]
    for _ in range(MOST_CONNECTIONS + 2):
        scene.turn(0.001)
    many[-1].settimeout(5)
    assert many[-1].recv(10) == b""
    for one in many:
        one.close()
    scene.turn(0.01)


def test_taken_port_is_named():
    """A program must not answer in the box's stead."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        port = tcp.getsockname()[1]
        with pytest.raises(OSError, match=f"port {port}"):
            NameServer(SideLoop(Loop()), print, print, port=port)
