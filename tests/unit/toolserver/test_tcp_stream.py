"""Connections to servers in the box, over the glove."""

import os
import socket
import time
from contextlib import suppress

import anyio
import pytest
from config import Config, Limits
from frames import DATA
from loop import Loop
from tcp_stream import TcpStream

from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.sandbox.frames import WINDOW
from orchestrator.schema.stream import StreamEnd, TcpTarget

docker = pytest.mark.docker

SERVER = """
import os, socket
server = socket.create_server(("127.0.0.1", 8000))
print("ready", flush=True)
while True:
    one, peer = server.accept()
    if os.fork() == 0:
        {body}
        os._exit(0)
    one.close()
"""
COUNT = "total = 0\n        while data := one.recv(65536): total += len(data)\n        one.sendall(b'%d' % total)"
FLOOD = "one.sendall(bytes(3_000_000))"
STALL = "import time; one.sendall(b'hi'); time.sleep(60)"
RESET = (
    # After a byte: one that is reset at once may not be open yet.
    "one.recv(1); "
    "one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\\1\\0\\0\\0\\0\\0\\0\\0'); one.close()"
)


async def serve(scene, body):
    """Start a server in the box and return once it listens."""
    await scene.run(f"cat > /tmp/server.py <<'EOF'\n{SERVER.replace('{body}', body)}\nEOF")
    await scene.run("python3 /tmp/server.py > /tmp/log 2>&1 &")
    await scene.output(
        "for i in $(seq 100); do grep -q ready /tmp/log && exit; sleep 0.05; done; exit 1"
    )


async def read_all(stream):
    whole = b""
    with anyio.fail_after(30):
        while piece := await stream.receive():
            whole += piece
    return whole


@docker
def test_half_close_passes_both_ways(stage):
    """The server hears the host's last word, and its own answer still comes."""

    async def scene(scene):
        await serve(scene, COUNT)
        stream = await scene.box.open_stream(TcpTarget(8000))
        await stream.send(bytes(2_000_000))
        await stream.send(b"", last=True)
        return await read_all(stream), await stream.close()

    assert stage.play(scene) == (b"2000000", StreamEnd())


@docker
def test_bulk_is_held_back_and_delays_no_call(stage):
    """What nobody reads stays in the box; calls go on beside it, and all of it comes at last."""

    async def scene(scene):
        await serve(scene, FLOOD)
        streams = [await scene.box.open_stream(TcpTarget(8000)) for _ in range(8)]
        await anyio.sleep(0.5)
        arrived = [sum(map(len, stream._channel._arrived)) for stream in streams]
        said = await scene.output("echo meanwhile")
        sizes = [len(await read_all(stream)) for stream in streams]
        for stream in streams:
            await stream.close()
        return arrived, said, sizes

    arrived, said, sizes = stage.play(scene)

    assert max(arrived) <= WINDOW
    assert said == "meanwhile\n"
    assert sizes == [3_000_000] * 8


@docker
def test_connection_is_the_commands_users(stage):
    """Programs of the box that look at who connects see their own user, not root."""

    async def scene(scene):
        await serve(scene, STALL)
        stream = await scene.box.open_stream(TcpTarget(8000))
        await stream.receive()
        # 1F40 is 8000; the field after the timers is the uid.
        uids = await scene.output("awk '$3 ~ /:1F40$/ {print $8}' /proc/net/tcp | sort -u")
        return uids, await stream.close()

    assert stage.play(scene) == ("1000\n", StreamEnd(reason="cancelled"))


@docker
def test_reset_ends_the_stream(stage):
    """A server that breaks off is an end, not a failure of the session."""

    async def scene(scene):
        await serve(scene, RESET)
        stream = await scene.box.open_stream(TcpTarget(8000))
        await stream.send(b"x")
        got = await read_all(stream)
        await stream.send(b"anybody there?", last=True)
        return got, await stream.close(), await scene.output("echo next")

    got, end, following = stage.play(scene)

    assert (got, end.exit_code, following) == (b"", None, "next\n")


@docker
@pytest.mark.parametrize("port", [0, -1, 70_000, 9])
def test_port_that_cannot_be_is_refused(stage, port):
    """The reason names it."""

    async def scene(scene):
        with pytest.raises(StreamRefusedError, match=f"port {port}"):
            await scene.box.open_stream(TcpTarget(port))

    stage.play(scene)


class LinkStandIn:
    def __init__(self):
        self.sent = []

    def send(self, _call, kind, payload=b""):
        self.sent.append((kind, payload))


def own_config():
    """Settings under which the test's own user plays the command's."""
    uid, gid = os.geteuid(), os.getegid()
    return Config("/", "/", "/", (), (), uid, gid, {}, Limits(1, 1, 1, 1), exec_record=False)


def test_server_on_the_other_loopback_is_found():
    """Many listen on ::1 alone, where the box has it."""
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    loop, link, ended = Loop(), LinkStandIn(), []
    stream = TcpStream(loop, link, 5, on_end=ended.append)
    stream.credit(100)
    stream.connect(own_config(), server.getsockname()[1])
    server.setblocking(False)
    until = time.monotonic() + 5
    while (DATA, b"hello") not in link.sent and time.monotonic() < until:
        loop.after(0.01, loop.stop)
        loop.run()
        loop._stopped = False
        with suppress(BlockingIOError), server.accept()[0] as one:
            one.sendall(b"hello")
    server.close()
    stream.end("cancelled")

    assert (DATA, b"hello") in link.sent
    assert ended == [5]
