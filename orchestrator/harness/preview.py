"""A port of the box on the host's own loopback, connection by connection."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import Listener, SocketAttribute, SocketStream

from orchestrator.errors import GloveboxError, UsageError
from orchestrator.sandbox.driver import BoxStream, StreamRefusedError
from orchestrator.schema.stream import StreamEnd, TerminalSize

MOST_CONNECTIONS = 64
"""At a time; more wait until one closes."""
UNTRUSTED = (
    "what a preview shows comes from the box: do not type passwords into it, and mind that pages "
    "on 127.0.0.1 share cookies with other local servers (a private window keeps them apart)"
)

OpenPort = Callable[[int], Awaitable[BoxStream]]
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PreviewSpec:
    """Which port of the box is wanted where."""

    port: int
    host: str = "127.0.0.1"
    host_port: int | None = None
    """None is the same number as in the box; 0 is any that is free."""


def parse_preview(port: int, listen: str | None) -> PreviewSpec:
    """Return what the flags ask for; UsageError for an address that others could reach."""
    if not 1 <= port <= 65_535:
        raise UsageError(f"preview {port}: expected a port from 1 to 65535")
    if listen is None:
        return PreviewSpec(port)
    host, _, number = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    try:
        address = ipaddress.ip_address(host)
        host_port = int(number)
    except ValueError as err:
        raise UsageError(
            f"--listen {listen!a}: expected ADDRESS:PORT", hint="such as 127.0.0.1:8080"
        ) from err
    if not address.is_loopback:
        raise UsageError(
            f"--listen {listen}: expected an address of this machine's loopback, got {host}",
            hint="others could reach the box through it; forward the port by ssh instead",
        )
    if not 0 <= host_port <= 65_535:
        raise UsageError(f"--listen {listen}: expected a port from 0 to 65535, got {host_port}")
    return PreviewSpec(port, host, host_port)


@dataclass(slots=True)
class PreviewCount:
    """What went through a preview, for the record of its end."""

    connections: int = 0
    refused: int = 0
    bytes_in: int = 0
    """Into the box."""
    bytes_out: int = 0

    def body(self) -> dict[str, Any]:
        """Return it as audit data."""
        return {
            "connections": self.connections,
            "refused": self.refused,
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
        }

    def counted(self, stream: BoxStream) -> BoxStream:
        """Return the stream, counted."""
        self.connections += 1
        return _Counted(stream, self)


class _Counted:
    def __init__(self, stream: BoxStream, count: PreviewCount) -> None:
        self._stream = stream
        self._count = count

    async def receive(self) -> bytes:
        data = await self._stream.receive()
        self._count.bytes_out += len(data)
        return data

    async def send(self, data: bytes, *, last: bool = False) -> None:
        self._count.bytes_in += len(data)
        await self._stream.send(data, last=last)

    def resize(self, size: TerminalSize) -> None:
        self._stream.resize(size)

    async def close(self) -> StreamEnd:
        return await self._stream.close()


@asynccontextmanager
async def listening(spec: PreviewSpec) -> AsyncIterator[Listener[SocketStream]]:
    """Give a listener on the loopback; UsageError where the port is taken."""
    wanted = spec.port if spec.host_port is None else spec.host_port
    try:
        found = await anyio.create_tcp_listener(local_host=spec.host, local_port=wanted)
    except OSError as err:
        raise UsageError(
            f"preview: {spec.host} port {wanted} cannot be listened on ({err.strerror})",
            hint="choose another: --listen 127.0.0.1:0 takes one that is free",
        ) from err
    async with found:
        yield found


def address_of(listener: Listener[SocketStream]) -> str:
    """Return ``ADDRESS:PORT`` of a listener, as a URL has it."""
    found: socket.socket = listener.extra(SocketAttribute.raw_socket)  # noqa: S610 - no query
    host, port = found.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def forward(
    listener: Listener[SocketStream], port: int, open_port: OpenPort, *, tell: Tell
) -> None:
    """Serve connections for ever; ``tell`` gets why one could not be served, each reason once."""
    limiter = anyio.CapacityLimiter(MOST_CONNECTIONS)
    told: set[str] = set()

    def say(reason: str) -> None:
        if reason not in told:
            told.add(reason)
            tell(reason)

    async def serve(client: SocketStream) -> None:
        try:
            async with client, limiter:
                await _connect(client, port, open_port)
        except* StreamRefusedError as refused:
            say(str(refused.exceptions[0]))
        except* GloveboxError as failed:
            say(str(failed.exceptions[0]))
        except* (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            # One connection broke; its client knows, and the next is another.
            pass

    await listener.serve(serve)


async def _connect(client: SocketStream, port: int, open_port: OpenPort) -> None:
    stream = await open_port(port)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_send_in, client, stream)
            while data := await stream.receive():
                await client.send(data)
            await client.send_eof()
    finally:
        with anyio.CancelScope(shield=True):
            await stream.close()


async def _send_in(client: SocketStream, stream: BoxStream) -> None:
    try:
        while True:
            await stream.send(await client.receive())
    except anyio.EndOfStream:
        await stream.send(b"", last=True)
