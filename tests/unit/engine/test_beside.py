"""What blocks runs beside the body, whatever becomes of either."""

import threading

import anyio
import pytest

from orchestrator.engine.beside import beside


def test_answer_is_there_when_it_is_asked_for():
    """The body goes on meanwhile, and may ask twice."""
    let = threading.Event()

    def work():
        return let.wait(10)

    async def scene():
        async with beside(work) as answer:
            let.set()
            return await answer, await answer

    assert anyio.run(scene) == (True, True)


def test_failure_is_raised_where_the_answer_is_asked_for():
    """As its own error."""

    async def scene():
        async with beside(lambda: 1 // 0) as answer:
            await answer

    with pytest.raises(ZeroDivisionError):
        anyio.run(scene)


def test_body_that_fails_first_fails_by_its_own_error():
    """The work is over by then all the same."""
    over = []

    def work():
        over.append(True)
        raise ZeroDivisionError

    async def scene():
        async with beside(work):
            raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        anyio.run(scene)

    assert over == [True]
