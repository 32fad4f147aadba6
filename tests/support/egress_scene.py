"""A proxy between a program in a box and servers, all in memory, or over loopback sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from orchestrator.egress.inject.injector import Injector
from orchestrator.egress.limits import Limits
from orchestrator.egress.memory import MemoryStream, stream_pair
from orchestrator.egress.proxy import Proxy
from orchestrator.egress.scripted import Let, ScriptedDialer, ScriptedGatekeeper, ScriptedResolver
from orchestrator.egress.seams import ByteStream, ExchangeWatch, Tls
from orchestrator.egress.sockets import SocketStream
from orchestrator.schema.way_out import Incoming

ADDRESS = "203.0.113.1"
HOST = "a.example"

QUICK = Limits(
    head_s=5, idle_s=5, keep_s=5, connect_s=5, stagger_s=0.2, tls_s=5, gone_s=0.2, linger_s=0.5
)


@dataclass
class Scene:
    """Who is there; ``dial`` opens a connection as a program in the box does."""

    proxy: Proxy
    gate: ScriptedGatekeeper
    resolver: ScriptedResolver
    dialer: ScriptedDialer
    tasks: TaskGroup
    ends: list[tuple[MemoryStream, anyio.Event]] = field(default_factory=list)

    def dial(self, incoming: Incoming | None = None) -> MemoryStream:
        """Return the box's end of a new connection."""
        near, box = stream_pair()
        served = anyio.Event()
        self.tasks.start_soon(self._serve, near, incoming or Incoming("proxy"), served)
        self.ends.append((box, served))
        return box

    async def _serve(self, near: MemoryStream, incoming: Incoming, served: anyio.Event) -> None:
        await self.proxy.serve(near, incoming)
        served.set()

    async def ask(self, request: bytes, answer: bytes, *, box: MemoryStream | None = None) -> bytes:
        """Return what the box gets for a request that a new server answers so."""
        box = box or self.dial()
        await box.send(request)
        far = await self.dialer.accept()
        await head_of(far)
        await far.send(answer, last=True)
        return await rest_of(box)

    async def over(self) -> None:
        """Let go of every connection of the box, and wait until all is over."""
        for end, served in self.ends:
            await end.close()
            await served.wait()

    async def problems(self) -> list[str]:
        """Why each admitted request ended early, once all is over."""
        await self.over()
        return [traffic.problem for _, traffic in self.gate.ended]


@asynccontextmanager
async def scene(
    *rules: Let,
    names: dict[str, Sequence[str]] | None = None,
    places: dict[tuple[str, int], int | None] | None = None,
    tls: Tls | None = None,
    injector: Injector | None = None,
    watch: ExchangeWatch | None = None,
    limits: Limits = QUICK,
) -> AsyncIterator[Scene]:
    """A proxy where ``a.example`` is at one public address, and what the rules let is let."""
    gate = ScriptedGatekeeper(rules or [Let(HOST, "http"), Let(HOST), Let(HOST, "tcp", 22)])
    resolver = ScriptedResolver(names or {HOST: [ADDRESS]})
    dialer = ScriptedDialer(places or {(ADDRESS, port): None for port in (22, 80, 443)})
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            proxy = Proxy(
                gate,
                resolver,
                dialer,
                tls=tls,
                injector=injector,
                watch=watch,
                recorder=gate,
                limits=limits,
            )
            made = Scene(proxy, gate, resolver, dialer, tasks)
            try:
                yield made
            finally:
                for end, _ in made.ends:
                    await end.close()
                proxy.close()


async def head_of(stream: ByteStream) -> bytes:
    """Receive up to the end of a head; what came with it is a part of what is returned."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = await stream.receive()
        if not piece:
            return data
        data += piece
    return data


async def some_of(stream: ByteStream, count: int) -> bytes:
    """Receive until there are so many bytes, or the end."""
    data = b""
    while len(data) < count and (piece := await stream.receive()):
        data += piece
    return data


async def rest_of(stream: ByteStream) -> bytes:
    """Receive until the end, or until it breaks."""
    data = b""
    try:
        while piece := await stream.receive():
            data += piece
    except OSError:
        return data + b"<broken>"
    return data


@asynccontextmanager
async def listening(
    serve: Callable[[SocketStream], Awaitable[None]], tasks: TaskGroup
) -> AsyncIterator[int]:
    """The port of 127.0.0.1 on which each connection is served so."""

    class Served(SocketStream):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            tasks.start_soon(served, self)

    async def served(stream: SocketStream) -> None:
        try:
            await serve(stream)
        finally:
            await stream.close()

    loop = asyncio.get_running_loop()
    server = await loop.create_server(Served, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        # Transports that were closed let go of their sockets in the loop's next turn.
        await anyio.sleep(0.01)
