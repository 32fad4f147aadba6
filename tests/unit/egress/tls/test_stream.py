import contextlib
import ssl

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.egress.memory import MemoryStream, stream_pair
from orchestrator.egress.tls.authority import Authority
from orchestrator.egress.tls.stream import TlsError, TlsStream, TruncatedError
from orchestrator.egress.tls.upstream import upstream_context
from tests.support.certificates import make_old

HOST = "api.example.com"
AUTHORITY = Authority("test")
CLIENT = upstream_context(AUTHORITY.certificate)


async def joined(
    client: ssl.SSLContext = CLIENT, capacity: int = 65_536
) -> tuple[TlsStream, TlsStream, MemoryStream, MemoryStream]:
    """Client and server after their handshake, and the streams below them."""
    below_client, below_server = stream_pair(capacity)
    outer = TlsStream(below_client, client, HOST)
    inner = TlsStream(below_server, AUTHORITY.context(HOST), None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outer.start)
        tasks.start_soon(inner.start)
    return outer, inner, below_client, below_server


async def everything(stream: TlsStream) -> bytes:
    got = b""
    while data := await stream.receive():
        got += data
    return got


@settings(deadline=None, max_examples=15)
@given(pieces=st.lists(st.binary(max_size=100_000), max_size=4))
def test_bytes_arrive_as_they_were_sent(pieces):
    """In order and whole, then a clean end, whatever their sizes."""

    async def scene() -> None:
        client, server, _, _ = await joined(capacity=1000)

        async def send() -> None:
            for piece in pieces:
                await client.send(piece)
            await client.send(b"", last=True)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send)
            assert await everything(server) == b"".join(pieces)
            assert await server.receive() == b""

    anyio.run(scene)


def test_both_ends_send_at_the_same_time():
    """One task sends while another receives, in both directions, far more than may wait."""
    up, down = b"u" * 3_000_000, b"d" * 2_000_000

    async def scene() -> None:
        client, server, _, _ = await joined()

        async def take(stream: TlsStream, expected: bytes) -> None:
            assert await everything(stream) == expected

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(take, server, up)
            tasks.start_soon(take, client, down)
            tasks.start_soon(lambda: client.send(up, last=True))
            tasks.start_soon(lambda: server.send(down, last=True))

    anyio.run(scene)


def test_end_in_one_direction_leaves_the_other_open():
    """Who has said that it is done still reads the answer, also what had come before."""

    async def scene() -> None:
        client, server, _, _ = await joined()
        await server.send(b"early, ")
        await anyio.lowlevel.checkpoint()
        await client.send(b"question", last=True)
        assert await everything(server) == b"question"
        await server.send(b"answer", last=True)
        assert await everything(client) == b"early, answer"

    anyio.run(scene)


def test_end_without_a_word_is_a_truncation():
    """An attacker who cuts the connection must not pass for a server that was done."""

    async def scene() -> None:
        client, server, _, below_server = await joined()
        await server.send(b"half of it")
        await below_server.close()
        assert await client.receive() == b"half of it"
        with pytest.raises(TruncatedError, match="in the middle"):
            await client.receive()

    anyio.run(scene)


def test_damaged_record_is_an_error():
    """Nothing that was tampered with is handed on."""

    async def scene() -> None:
        client, _server, _, below_server = await joined()
        await below_server.send(b"\x17\x03\x03\0\x20" + bytes(32))
        with pytest.raises(TlsError, match="TLS failed"):
            await client.receive()

    anyio.run(scene)


def test_client_that_does_not_trust_the_certificate_says_so():
    """A program that pins another certificate is told apart from one that just left."""

    async def scene() -> None:
        below_client, below_server = stream_pair()
        outer = TlsStream(below_client, ssl.create_default_context(), HOST)
        inner = TlsStream(below_server, AUTHORITY.context(HOST), None)

        async def doubt() -> None:
            with pytest.raises(TlsError, match="certificate verify failed"):
                await outer.start()
            await outer.close()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(doubt)
            with pytest.raises(TlsError, match="unknown ca"):
                await inner.start()

    anyio.run(scene)


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01\0\x05"])
def test_client_that_leaves_during_the_handshake_is_told_apart(sent):
    """It neither failed nor agreed."""

    async def scene() -> None:
        ours, theirs = stream_pair()
        await theirs.send(sent, last=True)
        with pytest.raises(TruncatedError, match="before TLS was agreed on"):
            await TlsStream(ours, AUTHORITY.context(HOST), None).start()

    anyio.run(scene)


def test_old_versions_are_not_spoken():
    """TLS 1.1 and older are refused by the server's side."""
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.load_verify_locations(cadata=AUTHORITY.certificate)
    make_old(old)

    async def scene() -> None:
        below_client, below_server = stream_pair()
        outer = TlsStream(below_client, old, HOST)
        inner = TlsStream(below_server, AUTHORITY.context(HOST), None)

        async def fail() -> None:
            with contextlib.suppress(TlsError):
                await outer.start()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)
            with pytest.raises(TlsError, match="unsupported protocol"):
                await inner.start()

    anyio.run(scene)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_each_spoken_version_carries_data(version):
    """Close and data work alike in both."""
    context = upstream_context(AUTHORITY.certificate)
    context.maximum_version = context.minimum_version = version

    async def scene() -> None:
        client, server, _, _ = await joined(context)
        assert (
            client.version
            == server.version
            == version.name.replace("_", ".", 1).replace("v1_", "v1.")
        )
        assert client.protocol == server.protocol == "http/1.1"
        assert client.peer_certificate is not None
        await client.send(b"question", last=True)
        assert await everything(server) == b"question"
        await server.send(b"answer", last=True)
        assert await everything(client) == b"answer"
        await client.close()
        await server.close()

    anyio.run(scene)


def test_sending_after_the_end_fails():
    """A stream that said it was done is not written to."""

    async def scene() -> None:
        client, _server, _, _ = await joined()
        await client.send(b"", last=True)
        with pytest.raises(OSError, match=r"."):
            await client.send(b"more")

    anyio.run(scene)
