"""A task beside a block: failures come out as they are."""

import anyio
import anyio.lowlevel
import pytest

from orchestrator.harness.wrap.beside import beside


async def forever():
    await anyio.sleep_forever()


async def fails():
    await anyio.lowlevel.checkpoint()
    raise LookupError("task")


def test_block_ends_the_task():
    """And its own failure is raised plain."""

    async def work():
        async with beside(forever):
            pass
        async with beside(forever):
            raise KeyError("block")

    with pytest.raises(KeyError, match="block"):
        anyio.run(work)


def test_task_that_fails_ends_the_block():
    """With the task's own failure."""

    async def work():
        async with beside(fails):
            await anyio.sleep(30)

    with pytest.raises(LookupError, match="task"):
        anyio.run(work)


def test_cancellation_from_outside_stays_one():
    """Nothing is swallowed."""

    async def work():
        with anyio.move_on_after(0.05) as scope:
            async with beside(forever):
                await anyio.sleep(30)
        return scope.cancelled_caught

    assert anyio.run(work) is True
