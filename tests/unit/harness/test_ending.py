"""The end of a session: what stops it, and what is told of it."""

import os
import signal

import anyio
import pytest

from orchestrator.errors import GloveboxError, UsageError
from orchestrator.harness.ending import stoppable, unforeseen


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_cancels_the_scope_and_is_known(number):
    """Nothing else of the process is ended by it."""

    async def work():
        async with stoppable() as (scope, got):
            with scope:
                await anyio.wait_all_tasks_blocked()
                os.kill(os.getpid(), number)
                await anyio.sleep(20)
            return scope.cancelled_caught, got.number

    assert anyio.run(work) == (True, number)


def test_without_a_signal_nothing_is_cancelled():
    """The watch ends with the block, and failures come out as they are."""

    async def fail():
        async with stoppable():
            raise UsageError("no")

    with pytest.raises(UsageError):
        anyio.run(fail)


def test_bug_is_told_without_its_words():
    """They could hold a value; a cancellation is none."""

    async def told_of():
        return [unforeseen(ValueError("secret")), unforeseen(anyio.get_cancelled_exc_class()())]

    bug, cancelled = anyio.run(told_of)

    assert isinstance(bug, GloveboxError)
    assert "ValueError" in bug.message
    assert "secret" not in bug.message
    assert cancelled is None
