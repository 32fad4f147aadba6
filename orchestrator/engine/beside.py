"""Work that blocks, beside other work that needs its answer only later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
from anyio import to_thread

T = TypeVar("T")


@asynccontextmanager
async def beside(work: Callable[[], T]) -> AsyncIterator[Awaitable[T]]:
    """Run what blocks in a thread while the body goes on, which may await it; over at the end.

    A body that fails before it awaits the answer fails by its own error alone.
    """
    running = asyncio.ensure_future(to_thread.run_sync(work))
    answer = asyncio.shield(running)
    try:
        yield answer
    finally:
        with anyio.CancelScope(shield=True):
            await asyncio.wait([running])
        for future in (running, answer):
            # Retrieved, or asyncio would complain of an error that nobody asked for.
            _ = future.cancelled() or future.exception()
