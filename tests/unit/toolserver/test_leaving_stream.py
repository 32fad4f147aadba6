"""One connection out of the box, with a socket pair for the program and the link kept."""

import json
import socket
import time

import pytest
from frames import CANCEL, CREDIT, DATA, END, OPEN, RESULT, U32, WINDOW, Frame
from leaving_stream import LeavingStream
from loop import Loop
from side_loop import SideLoop

NUMBER = 0x8000_0001


class Scene:
    def __init__(self):
        self.loop = Loop()
        self.sent = []
        self.ended = []
        self.stream = LeavingStream(SideLoop(self.loop), self, NUMBER, on_end=self.ended.append)
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.program = socket.create_connection(server.getsockname())
            ours, _ = server.accept()
        self.stream.leave(ours, {"door": "proxy"}, WINDOW)
        self.program.settimeout(5)

    def send(self, _number, kind, payload=b""):
        self.sent.append((kind, payload))

    def host(self, kind, payload=b""):
        self.stream.take(Frame(NUMBER, kind, payload))

    def kinds(self):
        return [kind for kind, _ in self.sent]

    def until(self, done):
        end = time.monotonic() + 10
        while not done():
            assert time.monotonic() < end
            self.loop._stopped = False
            self.loop.after(0.002, self.loop.stop)
            self.loop.run()

    def answer(self, data, *, whole):
        self.host(DATA, data)
        if whole:
            self.host(END)
        self.host(RESULT, b'{"data": {}}' if whole else b'{"error": "cut off"}')


@pytest.fixture
def scene():
    scene = Scene()
    yield scene
    scene.program.close()
    scene.stream.drop()


def test_nothing_is_read_before_the_host_takes_it(scene):
    """What a program sends ahead stays its own until then."""
    scene.program.sendall(b"GET")
    scene.until(lambda: True)
    assert [(k, json.loads(p)) for k, p in scene.sent] == [
        (OPEN, {"from": {"door": "proxy"}, "credit": WINDOW})
    ]
    scene.host(CREDIT, U32.pack(WINDOW))
    scene.until(lambda: (DATA, b"GET") in scene.sent)


def test_end_in_order_is_read_whole_by_the_program(scene):
    """Though it sent more than anybody reads."""
    scene.host(CREDIT, U32.pack(10))
    scene.program.sendall(bytes(100_000))
    scene.until(lambda: DATA in scene.kinds())
    scene.answer(b"no", whole=True)
    assert scene.ended == [NUMBER]
    scene.until(lambda: scene.program.recv(10, socket.MSG_PEEK) == b"no")

    assert (scene.program.recv(10), scene.program.recv(10)) == (b"no", b"")
    assert CANCEL not in scene.kinds()


def test_slow_reader_gets_the_rest_after_the_end(scene):
    """What the host sent ahead waits in the box."""
    scene.host(CREDIT, U32.pack(WINDOW))
    scene.program.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32_768)
    scene.stream.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    for _ in range(4):
        scene.host(DATA, bytes(WINDOW // 4))
    scene.answer(b"", whole=True)
    assert scene.stream._pending
    got = bytearray()
    scene.program.setblocking(False)

    def over():
        try:
            piece = scene.program.recv(65_536)
        except BlockingIOError:
            return False
        got.extend(piece)
        return not piece

    scene.until(over)
    assert len(got) == WINDOW


def test_cut_is_seen_as_a_break(scene):
    """Not as the end of an answer."""
    scene.host(CREDIT, U32.pack(WINDOW))
    scene.answer(b"", whole=False)

    with pytest.raises(ConnectionResetError):
        scene.program.recv(10)
    assert scene.ended == [NUMBER]


def test_program_that_breaks_off_is_told_and_waited_for(scene):
    """The number is done only when the host said so."""
    scene.host(CREDIT, U32.pack(WINDOW))
    scene.program.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    scene.program.close()
    scene.until(lambda: CANCEL in scene.kinds())
    assert scene.ended == []
    scene.host(DATA, b"on its way")
    scene.host(RESULT, b'{"error": "cut off"}')

    assert scene.ended == [NUMBER]
    assert scene.kinds().count(CANCEL) == 1


def test_program_that_reads_no_more_breaks_off(scene):
    """An endless answer to nobody ends."""
    scene.host(CREDIT, U32.pack(WINDOW))
    scene.program.close()
    scene.until(lambda: END in scene.kinds())
    scene.host(DATA, b"x")
    scene.until(lambda: scene.host(DATA, b"x") or CANCEL in scene.kinds())


def test_host_that_sends_too_much_is_cut_off(scene):
    """The window is the most that is held for a program that does not read."""
    scene.host(CREDIT, U32.pack(WINDOW))
    for _ in range(200):
        scene.host(DATA, bytes(65_536))

    assert CANCEL in scene.kinds()
