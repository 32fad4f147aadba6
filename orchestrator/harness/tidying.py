"""Removes what dead runs left while the new session already starts: nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
from anyio import to_thread

from orchestrator.errors import GloveboxError
from orchestrator.sandbox.driver import Lifecycle
from orchestrator.schema.terminal_text import escape_terminal


@asynccontextmanager
async def tidying(
    lifecycle: Lifecycle, note: Callable[[str], None], after: Callable[[], object]
) -> AsyncIterator[None]:
    """Reap beside whatever is done inside; over when the block is. A failure is only told.

    ``after`` blocks, and removes what can go once the dead boxes are gone.
    """

    async def reap() -> None:
        try:
            await lifecycle.reap()
            await to_thread.run_sync(after)
        except GloveboxError as error:
            note(escape_terminal(f"what dead runs left was not removed: {error.message}"))

    # Not a task group: it would wrap whatever the block raises in another kind of error.
    sweep = asyncio.ensure_future(reap())
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await sweep
