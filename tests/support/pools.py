"""A warm pool of the real engine, in this process."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from orchestrator.harness.governing import policy_of
from orchestrator.harness.options import RunOptions
from orchestrator.harness.pool.claim import Claimant
from orchestrator.harness.pool.claimed import Claim
from orchestrator.harness.pool.maker import BoxMaker
from orchestrator.harness.pool.recipe import recipe_of
from orchestrator.harness.pool.warm_pool import WarmPool


@asynccontextmanager
async def warm_pool(options: RunOptions, paths, size=1) -> AsyncIterator[WarmPool]:
    """Give a pool that has its boxes."""
    maker = BoxMaker(recipe_of(options), paths, os.environ)
    pool = WarmPool(maker, size)
    async with anyio.create_task_group() as group:
        group.start_soon(pool.keep)
        try:
            await filled(pool)
            yield pool
        finally:
            group.cancel_scope.cancel()
            await pool.close()
            maker.close()


async def filled(pool: WarmPool) -> None:
    """Return when the pool has its boxes."""
    with anyio.fail_after(60):
        while len(pool.ready) < pool.size:
            assert not pool.trouble, pool.trouble
            await anyio.sleep(0.02)


@asynccontextmanager
async def claimed(options: RunOptions, paths, pool: WarmPool) -> AsyncIterator[Claim]:
    """Give what a session of these options gets of the pool."""
    claimant = Claimant(
        options, policy_of(options, paths), paths=paths, environ=os.environ, note=print
    )
    async with claimant.claimed(pool) as claim:
        yield claim
