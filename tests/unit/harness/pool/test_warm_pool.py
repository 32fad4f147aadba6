"""Boxes are kept ready, each is given once, and what died or no longer fits is replaced."""

from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest

from orchestrator.errors import EngineError
from orchestrator.harness.pool.offer import UnfitError
from orchestrator.harness.pool.warm_pool import WarmPool

KEY, OTHER = "sha256:a", "sha256:b"


class FakeBox:
    """Offers its own name."""

    def __init__(self, number, key):
        self.session, self.key = f"box{number}", key
        self.alive, self.dropped, self.passable = True, False, True

    async def hand_over(self):
        self.alive = False
        return self.session if self.passable else None

    async def drop(self):
        self.alive, self.dropped = False, True


class FakeMaker:
    """Makes boxes under one key, after as many failures as it is told."""

    def __init__(self, key=KEY, failures=()):
        self.key, self.failures = key, list(failures)
        self.made = []

    async def make(self):
        await anyio.lowlevel.checkpoint()
        if self.failures:
            raise self.failures.pop(0)
        self.made.append(FakeBox(len(self.made), self.key))
        return self.made[-1]


@asynccontextmanager
async def running(maker, size=1):
    pool = WarmPool(maker, size)
    async with anyio.create_task_group() as group:
        group.start_soon(pool.keep)
        yield pool
        group.cancel_scope.cancel()


async def until(holds):
    with anyio.fail_after(10):
        while not holds():  # noqa: ASYNC110 - what is awaited has no event
            await anyio.sleep(0.01)


def play(scene, maker=None, size=1):
    maker = maker or FakeMaker()

    async def whole():
        async with running(maker, size) as pool:
            return await scene(pool, maker)

    return anyio.run(whole)


def test_each_box_is_given_once_and_replaced():
    """The next session finds the next box."""

    async def scene(pool, _maker):
        taken = []
        for _ in range(3):
            await until(lambda: len(pool.ready) == 2)
            taken.append(await pool.take(KEY))
        return taken, pool.taken

    taken, count = play(scene, size=2)

    assert taken == ["box0", "box1", "box2"]
    assert count == 3


def test_session_has_its_first_steps_before_the_next_box_is_made():
    """Making one at the same moment would slow both; it comes in a while."""

    async def scene(pool, maker):
        await until(lambda: pool.ready)
        await pool.take(KEY)
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        at_first = len(maker.made)
        await until(lambda: pool.ready)
        return at_first, len(maker.made)

    assert play(scene) == (1, 2)


def test_empty_pool_says_so_at_once():
    """A session never waits for a box to be made."""

    async def scene():
        return await WarmPool(FakeMaker(), 1).take(KEY)

    assert "not ready yet" in anyio.run(scene)


def test_box_made_under_another_key_is_dropped():
    """And the next is made under what holds now."""

    async def scene(pool, maker):
        await until(lambda: pool.ready)
        maker.key = OTHER
        why = await pool.take(OTHER)
        await until(lambda: maker.made[0].dropped and pool.ready)
        return why, await pool.take(OTHER)

    why, second = play(scene)

    assert "changed since it was made" in why
    assert second == "box1"


def test_box_that_died_is_replaced():
    """Nobody is given it."""

    async def scene(pool, maker):
        await until(lambda: pool.ready)
        maker.made[0].alive = False
        await until(lambda: pool.ready == ("box1",))
        assert maker.made[0].dropped

    play(scene)


def test_box_that_died_unseen_is_not_given():
    """Death is looked for at the moment of taking as well."""

    async def scene(pool, maker):
        await until(lambda: pool.ready)
        maker.made[0].alive = False
        return await pool.take(KEY)

    assert "had died" in play(scene)


def test_box_that_cannot_be_passed_on_is_not_given():
    """The next in line is."""

    async def scene(pool, maker):
        await until(lambda: len(pool.ready) == 2)
        maker.made[0].passable = False
        return await pool.take(KEY)

    assert play(scene, size=2) == "box1"


def test_failure_is_told_and_tried_again():
    """Why there is no box is the answer meanwhile."""
    maker = FakeMaker(failures=[EngineError("engine: busy")])

    async def scene(pool, _maker):
        await until(lambda: pool.trouble)
        why = await pool.take(KEY)
        await until(lambda: pool.ready)
        return why, pool.trouble

    why, trouble = play(scene, maker)

    assert "engine: busy" in why
    assert trouble == ""


def test_pool_that_can_never_have_a_box_gives_up():
    """It would only copy the project over and over."""

    async def scene():
        pool = WarmPool(FakeMaker(failures=[UnfitError("mode copy")]), 1)
        with anyio.fail_after(5):
            await pool.keep()
        return pool.trouble

    assert anyio.run(scene) == "mode copy"


def test_closed_pool_leaves_nothing():
    """Every box is dropped."""

    async def scene(pool, maker):
        await until(lambda: len(pool.ready) == 2)
        await pool.close()
        return [box.dropped for box in maker.made[:2]]

    assert play(scene, size=2) == [True, True]


def test_drop_that_fails_does_not_end_the_pool():
    """What stayed is swept later."""

    async def scene(pool, maker):
        await until(lambda: pool.ready)
        box = maker.made[0]

        async def fail():
            raise EngineError("volume busy")

        box.drop = fail
        box.alive = False
        await until(lambda: pool.ready == ("box1",))

    play(scene)


@pytest.mark.parametrize("size", [1, 3])
def test_pool_holds_as_many_as_it_is_told(size):
    """No more."""

    async def scene(pool, maker):
        await until(lambda: len(pool.ready) == size)
        await anyio.sleep(0.05)
        return len(maker.made)

    assert play(scene, size=size) == size
