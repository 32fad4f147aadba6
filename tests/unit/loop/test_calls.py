"""A turn's calls: whatever happens, each has a result on disk."""

import anyio
import pytest

from orchestrator.dispatch.batch import INTERRUPTED, NOT_STARTED, PartialBatchError
from orchestrator.dispatch.judge import NeedsApprovalError
from orchestrator.dispatch.output import OutputFilter
from orchestrator.loop.calls import Calls
from orchestrator.loop.limits import Pace
from orchestrator.redaction.redactor import Redactor
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import ToolCall, ToolResult

CALLS = tuple(ToolCall(CallId(name), "bash", "{}", {}) for name in "abc")


class Kept:
    """A transcript that keeps what it is given."""

    def __init__(self):
        self.added, self.held = [], []

    def add(self, message, **_):
        self.added.append(message)

    def hold(self, calls):
        self.held += [call.id for call in calls]


class Runner:
    """Ends in the way it is told, after the first call has its result."""

    def __init__(self, end=None):
        self.end = end

    async def dispatch(self, calls, *, keep):
        keep(ToolResult(calls[0].id, "bash", "ran"))
        if self.end is not None:
            await self.end()
        return tuple(ToolResult(call.id, "bash", "ran") for call in calls)


UNPACED = Pace(None)


def calls(runner, *, pace=UNPACED, observe=lambda _: None):
    kept = Kept()
    return Calls(runner, kept, output=OutputFilter(Redactor({})), observe=observe, pace=pace), kept


def outputs(kept):
    return [[(r.call, r.output, r.is_error) for r in message.results] for message in kept.added]


def test_results_are_on_disk_when_they_are_given():
    made, kept = calls(Runner())

    assert len(anyio.run(made.run, CALLS)) == 3
    assert outputs(kept) == [[("a", "ran", False), ("b", "ran", False), ("c", "ran", False)]]


@pytest.mark.case("session-loop-01")
def test_batch_that_is_broken_off_keeps_what_ran_and_closes_the_rest():
    """No call is left without a result."""
    made, kept = calls(Runner(anyio.sleep_forever))

    async def main():
        with anyio.move_on_after(0.05):
            await made.run(CALLS)

    anyio.run(main)
    assert outputs(kept) == [
        [("a", "ran", False), ("b", INTERRUPTED, True), ("c", INTERRUPTED, True)]
    ]


def test_failure_closes_the_calls_and_is_raised():
    async def fail():
        raise ZeroDivisionError

    made, kept = calls(Runner(fail))
    with pytest.raises(ZeroDivisionError):
        anyio.run(made.run, CALLS)

    assert [row[2] for row in outputs(kept)[0]] == [False, True, True]


def test_calls_run_as_far_as_pace_allows_and_the_others_have_not_begun():
    """Those that may begin are not held back; that the others wait is told."""
    told = []
    made, kept = calls(Runner(), pace=Pace(1), observe=told.append)

    async def main():
        with anyio.move_on_after(0.05):
            await made.run(CALLS)

    anyio.run(main)
    assert [row[1] for row in outputs(kept)[0]] == ["ran", NOT_STARTED, NOT_STARTED]
    [wait] = told
    assert (wait.calls, wait.per_minute, round(wait.seconds)) == (2, 1, 60)


def test_calls_that_waited_run_in_their_turn():
    """All results come together, in order."""
    made, kept = calls(Runner(), pace=Pace(1, minute_s=0.02))

    results = anyio.run(made.run, CALLS)

    assert [result.call for result in results] == ["a", "b", "c"]
    assert len(outputs(kept)) == 1


def test_batch_that_is_broken_off_tells_what_runs_from_what_waits_for_its_turn():
    made, kept = calls(Runner(anyio.sleep_forever), pace=Pace(2))

    async def main():
        with anyio.move_on_after(0.05):
            await made.run(CALLS)

    anyio.run(main)
    assert [row[1] for row in outputs(kept)[0]] == ["ran", INTERRUPTED, NOT_STARTED]


def test_ask_that_nobody_answers_holds_also_what_waits_for_its_turn():
    """Nothing of it has run."""

    async def stop():
        raise PartialBatchError((), CALLS[:1], NeedsApprovalError(CALLS[0].id, None))

    made, kept = calls(Runner(stop), pace=Pace(1))
    with pytest.raises(PartialBatchError):
        anyio.run(made.run, CALLS)

    assert kept.held == ["a", "b", "c"]


def test_ask_that_nobody_answers_is_held_for_later():
    async def stop():
        asked = NeedsApprovalError(CALLS[1].id, None)
        raise PartialBatchError((ToolResult(CallId("a"), "bash", "ran"),), CALLS[1:], asked)

    made, kept = calls(Runner(stop))
    with pytest.raises(PartialBatchError):
        anyio.run(made.run, CALLS)

    assert outputs(kept) == [[("a", "ran", False)]]
    assert kept.held == ["b", "c"]


def test_closing_no_calls_adds_nothing():
    made, kept = calls(Runner())
    made.close((), "why")

    assert kept.added == []
