"""A task beside a block, whose failure and the block's come out as they are, not as a group."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import anyio


@asynccontextmanager
async def beside(task: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Run ``task`` until the end of the block; the first of both to fail ends the other."""
    failures: list[Exception] = []

    async def kept() -> None:
        try:
            await task()
        # Raised below: out of a task group it would come wrapped in another kind.
        except Exception as error:  # noqa: BLE001
            failures.append(error)
            group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(kept)
        try:
            yield
        except Exception as error:  # noqa: BLE001 - as above
            failures.append(error)
        finally:
            group.cancel_scope.cancel()
    if failures:
        raise failures[0]
