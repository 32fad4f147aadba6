"""Removes what dead runs left while the new session already works: nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from anyio import to_thread

from orchestrator.engine.patience import aside
from orchestrator.errors import GloveboxError
from orchestrator.sandbox.driver import Lifecycle
from orchestrator.schema.terminal_text import escape_terminal

SWEEP_FAILED = "what dead runs left was not removed"
REST_S = 0.5
"""A session has its first steps before it: the engine answers either of them one by one."""


@asynccontextmanager
async def tidying(
    lifecycle: Lifecycle, note: Callable[[str], None], after: Callable[[], object]
) -> AsyncIterator[None]:
    """Reap beside whatever is done inside; over soon after the block is. A failure is only told.

    ``after`` blocks, and removes what can go once the dead boxes are gone.
    """
    ended = anyio.Event()

    async def reap() -> None:
        with anyio.move_on_after(REST_S):
            await ended.wait()
        try:
            with aside():
                await lifecycle.reap()
                await to_thread.run_sync(after)
        except GloveboxError as error:
            note(escape_terminal(f"{SWEEP_FAILED}: {error.message}"))

    # Not a task group: it would wrap whatever the block raises in another kind of error.
    sweep = asyncio.ensure_future(reap())
    try:
        yield
    finally:
        ended.set()
        with anyio.CancelScope(shield=True):
            await sweep
