"""Dead runs' things are removed beside a session, and a failure to is told and no more."""

import anyio
import anyio.lowlevel
import pytest

from orchestrator.errors import EngineError
from orchestrator.harness.tidying import tidying
from orchestrator.sandbox.scripted import ScriptedLifecycle


class Slow(ScriptedLifecycle):
    """Reaps when it is let."""

    def __init__(self, failure=None):
        super().__init__()
        self.let = anyio.Event()
        self.reaped = False
        self.failure = failure

    async def reap(self):
        await self.let.wait()
        if self.failure:
            raise self.failure
        self.reaped = True
        return []


def test_nobody_waits_for_the_reaper():
    """The block runs while it works, and ends after it."""

    async def scene():
        lifecycle = Slow()
        async with tidying(lifecycle, pytest.fail, lambda: None):
            await anyio.lowlevel.checkpoint()
            assert not lifecycle.reaped
            lifecycle.let.set()
        return lifecycle.reaped

    assert anyio.run(scene)


def test_failure_is_told():
    """The session itself goes on."""

    async def scene():
        notes = []
        lifecycle = Slow(EngineError("engine: \x1b busy"))
        async with tidying(lifecycle, notes.append, pytest.fail):
            lifecycle.let.set()
        return notes

    [note] = anyio.run(scene)

    assert "not removed: engine: " in note
    assert "\x1b" not in note


def test_error_of_the_block_stays_what_it_is():
    """Callers catch it by its kind."""

    async def scene():
        lifecycle = Slow()
        lifecycle.let.set()
        async with tidying(lifecycle, pytest.fail, lambda: None):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        anyio.run(scene)
