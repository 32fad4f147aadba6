"""One caller of the control socket, who may say anything."""

import os
import socket

import anyio
import pytest

from orchestrator.harness.control_talk import Talk, caller_of
from orchestrator.sandbox.frames import DATA, HELLO, OPEN, PING, READY, Decoder, encode
from tests.support.joining import SESSION, join

ATTACH = b'{"version": 1, "via": "attach"}'
TERMINAL = b'{"to": {"terminal": {"columns": 80, "rows": 24}}, "credit": 1000}'


def test_caller_is_who_the_kernel_says():
    """Nothing the caller sends has a part in it."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert caller_of(ours) == (os.getpid(), os.geteuid())


@pytest.mark.parametrize(
    "frames",
    [
        [(0, PING, b"")],
        [(1, OPEN, TERMINAL)],
        [(0, HELLO, b"{}")],
        [(0, HELLO, ATTACH), (0, HELLO, ATTACH)],
        [(0, HELLO, ATTACH), (1, OPEN, b"{}")],
        [(0, HELLO, ATTACH), (1, OPEN, TERMINAL), (1, OPEN, TERMINAL)],
    ],
)
def test_caller_out_of_turn_is_cut_off_or_refused(tmp_path, frames):
    """And what it opened before is closed."""

    async def scene(session):
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.settimeout(5)
        async with anyio.create_task_group() as group:
            group.start_soon(Talk(ours, session.access, session=SESSION).serve)
            for call, kind, payload in frames:
                theirs.sendall(b"".join(encode(call, kind, payload)))
                await anyio.sleep(0.05)
            theirs.shutdown(socket.SHUT_WR)
        theirs.close()

        assert len(session.records("terminal_start")) == len(session.records("terminal_end"))

    join(tmp_path, scene)


def test_late_frames_of_a_stream_that_is_over_are_let_be(tmp_path):
    """They were on their way."""

    async def scene(session):
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        async with anyio.create_task_group() as group:
            group.start_soon(Talk(ours, session.access, session=SESSION).serve)
            theirs.sendall(b"".join(encode(0, HELLO, ATTACH)))
            await anyio.sleep(0.05)
            theirs.sendall(b"".join(encode(77, DATA, b"late")))
            theirs.sendall(b"".join(encode(1, OPEN, TERMINAL)))
            await anyio.sleep(0.1)
            heard = Decoder().feed(theirs.recv(10_000))
            theirs.close()

        assert heard[0].kind == READY
        assert b"$ " in [frame.payload for frame in heard if frame.kind == DATA]

    join(tmp_path, scene)
