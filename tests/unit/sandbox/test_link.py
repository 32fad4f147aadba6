import os
import socket
import threading

import anyio
import pytest

from orchestrator.sandbox.frames import OUTPUT, PING, RESULT, Decoder, encode
from orchestrator.sandbox.link import Link


class Ends:
    """A link and the other end of its socket, played by the test."""

    def __init__(self):
        ours, self.other = socket.socketpair()
        ours.setblocking(False)
        self.ours = ours
        self.frames = []
        self.ended = []
        self.link = Link(ours)
        self.link.open(self.frames.append, self.ended.append)

    async def until(self, seen):
        with anyio.fail_after(5):
            while not seen():  # noqa: ASYNC110 - what is awaited happens in another thread
                await anyio.sleep(0.005)

    def close(self):
        self.link.close()
        self.ours.close()
        self.other.close()


def play(scene):
    async def whole():
        ends = Ends()
        try:
            await scene(ends)
        finally:
            ends.close()

    anyio.run(whole)


def test_frames_go_both_ways():
    """What one end sends the other gets."""

    async def scene(ends):
        ends.other.send(b"".join(encode(1, RESULT, b"from the box")))
        ends.link.send(2, RESULT, b"to the box")
        await ends.until(lambda: ends.frames)

        assert ends.frames == [(1, RESULT, b"from the box")]
        assert Decoder().feed(ends.other.recv(1000)) == [(2, RESULT, b"to the box")]

    play(scene)


def test_slow_box_gets_everything_in_order():
    """What the box does not take at once waits without blocking the loop."""
    data = os.urandom(3_000_000)

    async def scene(ends):
        got = []

        def read_slowly():
            decoder = Decoder()
            while not got:
                got.extend(decoder.feed(ends.other.recv(50_000)))

        ends.link.send(1, OUTPUT, data)
        reader = threading.Thread(target=read_slowly)
        reader.start()
        await ends.until(lambda: got)
        reader.join()
        assert got[0].payload == data

    play(scene)


def test_end_is_told_once():
    """A box that ends is reported, and the link is silent from then on."""

    async def scene(ends):
        ends.other.close()
        await ends.until(lambda: ends.ended)
        ends.link.send(1, OUTPUT, b"x")
        await anyio.sleep(0.02)
        assert [str(error) for error in ends.ended] == ["box: it ended"]

    play(scene)


@pytest.mark.parametrize("garbage", [b"\xff" * 64, b"GET / HTTP/1.1\r\n\r\n"])
def test_garbage_ends_the_link(garbage):
    """A box that does not speak the wire is given up."""

    async def scene(ends):
        ends.other.send(garbage)
        await ends.until(lambda: ends.ended)
        assert "frame of at most" in str(ends.ended[0])

    play(scene)


def test_closed_link_tells_nothing():
    """After ``close`` nobody is called any more."""

    async def scene(ends):
        ends.link.close()
        ends.other.close()
        await anyio.sleep(0.05)
        assert (ends.frames, ends.ended) == ([], [])

    play(scene)


def test_heartbeat_goes_out_from_another_thread():
    """The heart beats while the event loop is busy."""

    async def scene(ends):
        beating = threading.Thread(target=ends.link.ping)
        beating.start()
        beating.join()
        assert Decoder().feed(ends.other.recv(100)) == [(0, PING, b"")]

    play(scene)


def test_heartbeat_never_breaks_a_message():
    """A frame that went out in half is finished before anything else."""

    async def scene(ends):
        ends.link.send(1, OUTPUT, bytes(2_000_000))
        got = []

        def read():
            decoder = Decoder()
            while len(got) < 2:
                got.extend(decoder.feed(ends.other.recv(70_000)))

        reader = threading.Thread(target=read)
        reader.start()
        while not got:
            ends.link.ping()
            await anyio.sleep(0.001)
        ends.link.ping()
        reader.join(5)
        assert {frame.kind for frame in got} == {OUTPUT, PING}

    play(scene)
