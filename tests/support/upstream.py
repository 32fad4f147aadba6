"""A server on loopback that stands for a host of the world outside, and what it was asked."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from orchestrator.egress.scripted import ScriptedDialer, ScriptedResolver
from orchestrator.harness.egress.net import Net

PUBLIC = "203.0.113.7"
"""Of a documentation range: public by the proxy's list, and nobody's."""

Answer = Callable[[bytes, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Upstream:
    """What stands behind ``PUBLIC``, for every name that is asked for."""

    ports: dict[tuple[str, int], int | None] = field(default_factory=dict)
    heads: list[bytes] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by the first request."""

    @property
    def net(self) -> Net:
        """The network as the session's proxy sees it."""
        return Net(ScriptedResolver(self.names), ScriptedDialer(self.ports))

    @property
    def asked(self) -> list[str]:
        """The first line of every request that arrived."""
        return [head.partition(b"\r\n")[0].decode() for head in self.heads]


async def hello(
    head: bytes,  # noqa: ARG001 - the form of Answer
    reader: asyncio.StreamReader,  # noqa: ARG001 - the same
    writer: asyncio.StreamWriter,
) -> None:
    """Answer every request with the same page."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n")
    await writer.drain()


@asynccontextmanager
async def upstream(
    *hosts: str,
    ports: tuple[int, ...] = (80,),
    answer: Answer = hello,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Upstream]:
    """Serve ``hosts`` at these ports, in plain HTTP or by ``tls``, until the end of the block."""
    found = Upstream(names={host: [PUBLIC] for host in hosts})

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            found.heads.append(head)
            found.arrived.set()
            await answer(head, reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        real = server.sockets[0].getsockname()[1]
        found.ports = {(PUBLIC, port): real for port in ports}
        yield found
