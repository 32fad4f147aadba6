"""Credit and bytes of one stream, without a box."""

import json
import os

import pytest
from frames import CREDIT, DATA, END, RESULT, U32, WINDOW, Frame
from loop import Loop
from stream import Stream


class Pipe(Stream):
    """A stream to a pair of pipes."""

    def __init__(self, loop, link, fd):
        self.ended = []
        super().__init__(loop, link, 5, on_end=self.ended.append)
        self.fd = fd

    def release(self):
        os.close(self.fd)

    def output_ended(self):
        self.finish({"data": {}})


class LinkStandIn:
    def __init__(self):
        self.sent = []

    def send(self, call, kind, payload=b""):
        assert call == 5
        self.sent.append((kind, payload))

    def bytes(self):
        return b"".join(payload for kind, payload in self.sent if kind == DATA)


@pytest.fixture
def link():
    return LinkStandIn()


def turn(loop):
    """Let the loop run once around."""
    loop.after(0.01, loop.stop)
    loop.run()
    loop._stopped = False


def test_nothing_is_read_beyond_the_credit(link):
    """The pipe fills and its writer waits, until the host has read what it got."""
    loop = Loop()
    read, write = os.pipe()
    os.set_blocking(read, False)
    stream = Pipe(loop, link, read)
    stream.credit(10)
    stream.begin(read)
    os.write(write, b"0123456789abc")
    turn(loop)
    assert link.bytes() == b"0123456789"

    stream.take(Frame(5, CREDIT, U32.pack(100)))
    turn(loop)
    assert link.bytes() == b"0123456789abc"

    os.close(write)
    turn(loop)
    assert link.sent[-1] == (RESULT, json.dumps({"data": {}}).encode())
    assert stream.ended == [5]


def test_input_waits_for_a_slow_reader_and_is_paid_back(link):
    """The host may send a window ahead; credit comes as the bytes are taken."""
    loop = Loop()
    read, write = os.pipe()
    os.set_blocking(write, False)
    stream = Pipe(loop, link, write)
    stream.begin(write)
    for _ in range(4):
        stream.take(Frame(5, DATA, b"x" * (WINDOW // 4)))
    stream.take(Frame(5, END, b""))
    taken = 0
    while taken < WINDOW:
        taken += len(os.read(read, 65_536))
        turn(loop)
    os.close(read)

    granted = [U32.unpack(payload)[0] for kind, payload in link.sent if kind == CREDIT]
    assert granted[0] == WINDOW
    assert WINDOW // 2 < sum(granted[1:]) <= WINDOW


def test_host_that_sends_too_much_is_cut_off(link):
    """The server holds no more than a window of it."""
    loop = Loop()
    read, write = os.pipe()
    os.set_blocking(write, False)
    stream = Pipe(loop, link, write)
    stream.begin(write)
    stream.take(Frame(5, DATA, bytes(WINDOW)))
    stream.take(Frame(5, DATA, bytes(WINDOW)))
    os.close(read)

    assert b"more than it was allowed" in link.sent[-1][1]
    assert stream.ended == [5]
