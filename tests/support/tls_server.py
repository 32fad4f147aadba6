"""Our side of TLS on a port of loopback, for clients that are not ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio

from orchestrator.egress.seams import ByteStream
from orchestrator.egress.sockets import SocketStream

Serve = Callable[[ByteStream], Awaitable[None]]


@asynccontextmanager
async def listening(serve: Serve) -> AsyncIterator[int]:
    """Hand each connection to ``serve``; yield the port."""
    async with anyio.create_task_group() as tasks:

        class Accepted(SocketStream):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                super().connection_made(transport)
                tasks.start_soon(served, self)

        async def served(stream: ByteStream) -> None:
            try:
                await serve(stream)
            finally:
                with anyio.CancelScope(shield=True):
                    await stream.close()

        loop = asyncio.get_running_loop()
        server = await loop.create_server(Accepted, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            tasks.cancel_scope.cancel()
