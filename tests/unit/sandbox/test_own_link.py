import json
import os
import socket
from dataclasses import replace

import anyio
import pytest

from orchestrator.sandbox.calls import Calls
from orchestrator.sandbox.frames import (
    BOX_NUMBERS,
    CREDIT,
    DATA,
    OPEN,
    REQUEST,
    RESULT,
    Decoder,
    encode,
)
from orchestrator.sandbox.link import Link
from orchestrator.sandbox.own_link import own_link
from orchestrator.schema.outcome import Outcome

FIRST = BOX_NUMBERS + 1
OPENED = json.dumps({"from": {"door": "proxy"}, "credit": 10}).encode()


class Quiet:
    """Takes every connection and holds it."""

    async def serve(self, _incoming, stream):
        await stream.receive()
        await anyio.sleep_forever()

    async def knows(self, *_):
        return False


class Scene:
    """The host's end, and a box's end that the test plays."""

    def __init__(self):
        ours, self.box = socket.socketpair()
        ours.setblocking(False)
        self.ours = ours
        self.calls = Calls()
        self.link = Link(ours)
        self.link.open(self.calls.take, print)
        self.calls.send_over(self.link)
        self.breaches = []
        self.calls.on_breach = self.breaches.append
        self.passed = []

    async def expects(self, _body):
        return Outcome(data={"taken": True})

    async def waits(self, call):
        """Take the descriptor as the box does, and answer."""
        data, descriptors, *_ = socket.recv_fds(self.box, 4096, 4)
        [frame] = Decoder().feed(data)
        assert (frame.kind, json.loads(frame.payload)) == (REQUEST, {"kind": "take_link"})
        self.passed += descriptors
        self.box.sendall(b"".join(encode(call.number, RESULT, b'{"data": {"taken": true}}')))
        with anyio.fail_after(5):
            await call.done.wait()
        return call.outcome()

    def close(self):
        self.link.close()
        for one in (self.ours, self.box):
            one.close()
        for descriptor in self.passed:
            os.close(descriptor)


def play(act):
    async def whole():
        scene = Scene()
        try:
            with anyio.fail_after(10):
                return await act(scene)
        finally:
            scene.close()

    return anyio.run(whole)


def test_streams_of_the_box_come_by_it():
    """And what goes back goes the same way, not with the calls."""

    async def act(scene):
        scene.calls.departures.open(Quiet())
        async with own_link(scene.calls, ask=scene.expects, wait=scene.waits) as taken:
            assert taken
            os.write(scene.passed[0], b"".join(encode(FIRST, OPEN, OPENED)))
            await anyio.sleep(0.05)
            frames = Decoder().feed(os.read(scene.passed[0], 4096))
            await scene.calls.departures.close()
        scene.box.setblocking(False)
        with pytest.raises(BlockingIOError):
            scene.box.recv(1)
        return [(frame.call, frame.kind) for frame in frames], scene.breaches

    assert play(act) == ([(FIRST, CREDIT)], [])


@pytest.mark.parametrize("what", ["a call's", "unopened", "closed"])
def test_breach_on_it_ends_the_box(what):
    """As one on any other connection does."""

    async def act(scene):
        scene.calls.departures.open(Quiet())
        async with own_link(scene.calls, ask=scene.expects, wait=scene.waits):
            if what == "closed":
                os.close(scene.passed.pop())
            else:
                number = 5 if what == "a call's" else FIRST
                os.write(scene.passed[0], b"".join(encode(number, DATA, b"x")))
            await anyio.sleep(0.05)
        return len(scene.breaches)

    assert play(act) == 1


def test_busy_connection_is_not_waited_for_for_ever():
    """Without one of its own, what leaves goes after the calls."""

    async def act(scene):
        while scene.link.idle:
            scene.link.send(7, REQUEST, bytes(60_000))
        async with own_link(scene.calls, ask=scene.expects, wait=scene.waits) as taken:
            return taken

    assert play(act) is False


@pytest.mark.docker
@pytest.mark.parametrize("sockets", [True, False], ids=["socket", "stdio"])
def test_real_box_takes_one_where_it_can(stage, sockets):
    """Over the engine's streams no descriptor can be passed."""

    async def scene(scene):
        box = scene.box
        async with own_link(box._calls, ask=box._ask, wait=box._answer) as taken:
            return taken, await scene.output("echo on")

    assert replace(stage, sockets=sockets).play(scene) == (sockets, "on\n")
