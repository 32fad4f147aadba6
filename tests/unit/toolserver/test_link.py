import os
import socket

import pytest
from frames import OUTPUT, RESULT, Decoder, encode
from link import Link


class LoopStandIn:
    """Remembers who waits for what; the test decides when it happens."""

    def __init__(self):
        self.readers = {}
        self.writers = {}

    def on_readable(self, fd, handler):
        self.readers[fd] = handler

    def on_writable(self, fd, handler):
        self.writers[fd] = handler


@pytest.fixture
def ends():
    """A link, its loop, the other end, and what the link reported."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    loop, seen = LoopStandIn(), []
    link = Link(loop, ours.fileno(), ours.fileno())
    link.open(seen.append, lambda reason: seen.append(("closed", reason)))
    with ours, theirs:
        yield link, loop, theirs, seen


def test_frames_are_handed_on(ends):
    """What comes in is decoded and given to the reader."""
    link, loop, theirs, seen = ends
    theirs.send(b"".join(encode(4, RESULT, b"hello")))

    loop.readers[link._read_fd]()

    assert seen == [(4, RESULT, b"hello")]


def test_vain_call_does_nothing(ends):
    """Descriptor numbers are used again, so a handler may be called for nothing."""
    link, loop, _, seen = ends

    loop.readers[link._read_fd]()

    assert seen == []


def test_full_pipe_waits_and_goes_on(ends):
    """What the host does not take now is sent when it does, in order."""
    link, loop, theirs, _ = ends
    data = os.urandom(3_000_000)
    link.send(1, OUTPUT, data)
    assert loop.writers[link._write_fd] is not None

    decoder, got = Decoder(), []
    while not got:
        try:
            got = decoder.feed(theirs.recv(100_000))
        except BlockingIOError:
            loop.writers[link._write_fd]()

    assert got[0].payload == data
    assert loop.writers[link._write_fd] is None


def test_end_is_told_once(ends):
    """When the host is gone the server must know, and only once."""
    link, loop, theirs, seen = ends
    theirs.close()
    reader = loop.readers[link._read_fd]

    reader()
    reader()
    link.send(1, OUTPUT, b"x")

    assert [what for what, _ in seen] == ["closed"]


def test_garbage_closes(ends):
    """A host that does not speak the wire is no host."""
    link, loop, theirs, seen = ends
    theirs.send(b"\xff" * 40)

    loop.readers[link._read_fd]()

    assert seen[0][0] == "closed"
