"""A turn's calls: side by side or one after the other, results in the order of the calls."""

import anyio
import anyio.lowlevel
import pytest

from orchestrator.dispatch.batch import NOT_STARTED, PartialBatchError, forget, run_batch
from orchestrator.dispatch.judge import NeedsApprovalError
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import ToolCall, ToolResult

CALLS = [ToolCall(CallId(name), "bash", "{}", {}) for name in "abc"]


def result(at):
    return ToolResult(CALLS[at].id, "bash", f"done {at}")


def run(one, *, side_by_side, keep=forget, calls=CALLS):
    async def main():
        return await run_batch(calls, one, side_by_side=side_by_side, keep=keep)

    return anyio.run(main)


@pytest.mark.case("session-loop-03")
def test_side_by_side_ends_in_any_order_and_comes_back_in_order():
    ended = []

    async def one(at):
        await anyio.sleep(0.05 * (2 - at))
        ended.append(at)
        return result(at)

    assert [each.output for each in run(one, side_by_side=True)] == ["done 0", "done 1", "done 2"]
    assert ended == [2, 1, 0]


def test_one_after_the_other_never_overlaps():
    running = []

    async def one(at):
        running.append(at)
        assert running == [at]
        await anyio.lowlevel.checkpoint()
        running.clear()
        return result(at)

    assert len(run(one, side_by_side=False)) == 3


@pytest.mark.parametrize("side_by_side", [True, False])
def test_ask_that_nobody_answers_keeps_what_ran_and_what_waits(side_by_side):
    """Side by side the others go on: they may have had an effect."""
    stop = NeedsApprovalError(CALLS[1].id, None)

    async def one(at):
        if at == 1:
            raise stop
        return result(at)

    with pytest.raises(PartialBatchError) as caught:
        run(one, side_by_side=side_by_side)

    ran = [each.call for each in caught.value.results]
    assert ran == (["a", "c"] if side_by_side else ["a"])
    assert [call.id for call in caught.value.waiting] == (["b"] if side_by_side else ["b", "c"])
    assert caught.value.stop is stop


def test_failure_tells_which_were_not_begun():
    kept = []

    async def one(at):
        if at == 1:
            raise ZeroDivisionError
        return result(at)

    with pytest.raises(ZeroDivisionError):
        run(one, side_by_side=False, keep=kept.append)

    assert [(each.call, each.output) for each in kept] == [("c", NOT_STARTED)]


def test_failure_side_by_side_is_raised_bare():
    async def one(_at):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(one, side_by_side=True)


def test_single_call_needs_no_group():
    async def one(at):
        return result(at)

    assert run(one, side_by_side=True, calls=CALLS[:1]) == (result(0),)
