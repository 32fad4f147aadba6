"""The way of an answer to its client, on which the host's keys are taken out."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from orchestrator.egress.endpoint.connection import ClientConnection, ClientGoneError
from orchestrator.egress.endpoint.echo import Echoes, EchoScrub, scrub_text
from orchestrator.egress.endpoint.event_echo import EventScrub

_TICK_S = 0.5
"""An event that may begin a key waits for two of them at most."""


class Outlet:
    """Writes one answer; one task writes, another may tend."""

    def __init__(self, connection: ClientConnection, echoes: Echoes) -> None:
        """``echoes`` must not come out."""
        self._connection = connection
        self._echoes = echoes
        self._bytes = EchoScrub(echoes)
        self._events: EventScrub | None = None
        self._lock = anyio.Lock()

    async def start(self, status: int, headers: Sequence[tuple[str, str]], *, events: bool) -> None:
        """Write the head; ``events``: server-sent ones follow. Raises ClientGoneError."""
        self._events = EventScrub(self._echoes) if events else None
        scrubbed = [(name, scrub_text(value, self._echoes)) for name, value in headers]
        await self._connection.start(status, scrubbed)

    async def write(self, piece: bytes) -> None:
        """Write what of the answer need not wait. Raises ClientGoneError."""
        async with self._lock:
            passed = self._bytes.feed(piece)
            await self._connection.write(self._events.feed(passed) if self._events else passed)

    async def flush(self) -> None:
        """Write the rest. Raises ClientGoneError."""
        async with self._lock:
            rest = self._bytes.flush()
            if self._events:
                rest = self._events.feed(rest) + self._events.flush()
            await self._connection.write(rest)

    async def finish(self) -> None:
        """Write the end. Raises ClientGoneError."""
        await self._connection.finish()

    async def tend(self) -> None:
        """Let go what has waited too long, until cancelled or the client is gone."""
        while True:
            await anyio.sleep(_TICK_S)
            async with self._lock:
                late = self._events.tick() if self._events else b""
                try:
                    await self._connection.write(late)
                except ClientGoneError:
                    return
