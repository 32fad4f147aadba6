"""A port of the box on the host's loopback, and nowhere else."""

import socket

import anyio
import pytest

from orchestrator.errors import UsageError
from orchestrator.harness.preview import (
    PreviewCount,
    PreviewSpec,
    address_of,
    forward,
    listening,
    parse_preview,
)
from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.sandbox.scripted_stream import ScriptedStream


@pytest.mark.parametrize(
    ("listen", "spec"),
    [
        (None, PreviewSpec(80)),
        ("127.0.0.1:8080", PreviewSpec(80, "127.0.0.1", 8080)),
        ("127.0.0.2:0", PreviewSpec(80, "127.0.0.2", 0)),
        ("[::1]:8080", PreviewSpec(80, "::1", 8080)),
    ],
)
def test_loopback_is_where_it_listens(listen, spec):
    """Any address of it."""
    assert parse_preview(80, listen) == spec


@pytest.mark.parametrize(
    "listen",
    ["0.0.0.0:80", "192.168.0.1:80", "[::]:80", "8080", "localhost:80", ":80", "127.0.0.1:x",
     "127.0.0.1:70000", "::ffff:10.0.0.1:80", "127.0.0.1"],
)  # fmt: skip
def test_every_other_address_is_refused(listen):
    """Nobody else's machine may reach the box through this one."""
    with pytest.raises(UsageError, match="--listen"):
        parse_preview(80, listen)


@pytest.mark.parametrize("port", [0, -1, 65_536])
def test_port_that_cannot_be_is_refused(port):
    """Before anything listens."""
    with pytest.raises(UsageError, match="1 to 65535"):
        parse_preview(port, None)


def serve(open_port, scene):
    """Forward a free port while a scene goes on; return what was told."""
    told = []

    async def whole():
        async with (
            listening(PreviewSpec(80, host_port=0)) as listener,
            anyio.create_task_group() as group,
        ):
            group.start_soon(lambda: forward(listener, 80, open_port, tell=told.append))
            with anyio.fail_after(10):
                await scene(int(address_of(listener).rpartition(":")[2]))
            group.cancel_scope.cancel()

    anyio.run(whole)
    return told


async def ask(port, words=b"hello"):
    async with await anyio.connect_tcp("127.0.0.1", port) as client:
        await client.send(words)
        await client.send_eof()
        whole = b""
        try:
            while True:
                whole += await client.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return whole


def test_bytes_pass_both_ways_and_are_counted():
    """Each connection is a stream of its own."""
    count, streams = PreviewCount(), []

    async def open_port(port):
        assert port == 80
        streams.append(ScriptedStream(b"page"))
        return count.counted(streams[-1])

    async def scene(port):
        assert [await ask(port), await ask(port)] == [b"page", b"page"]

    assert serve(open_port, scene) == []
    assert (count.connections, count.bytes_out) == (2, 8)


def test_reason_of_a_refusal_is_told_once():
    """A browser tries again and again."""

    async def open_port(_port):
        raise StreamRefusedError("port 80 of the box: connection refused")

    async def scene(port):
        assert [await ask(port) for _ in range(3)] == [b""] * 3

    assert serve(open_port, scene) == ["port 80 of the box: connection refused"]


def test_client_that_breaks_off_disturbs_nobody():
    """The next is served."""

    async def open_port(_port):
        return ScriptedStream(b"x" * 100_000)

    async def scene(port):
        for _ in range(5):
            sock = socket.create_connection(("127.0.0.1", port))
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            sock.close()
        assert len(await ask(port)) == 100_000

    serve(open_port, scene)


def test_port_that_is_taken_is_a_usage_error():
    """With a way out."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        async def whole():
            async with listening(PreviewSpec(port)):
                pass

        with pytest.raises(UsageError, match=f"port {port}") as caught:
            anyio.run(whole)

    assert "127.0.0.1:0" in caught.value.hint
