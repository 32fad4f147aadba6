"""Snapshots of a running session: complete before the next call, told, and never in the way."""

import anyio
import pytest

from orchestrator.dispatch.batch import forget
from orchestrator.errors import WorkspaceError
from orchestrator.harness.history import KeepingRunner, open_history
from orchestrator.schema.event import ErrorRaised, SnapshotTaken
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import ToolCall
from orchestrator.workspace.snapshots import Taken
from orchestrator.workspace.snapshots_words import Moment, Snapshot


class Kept:
    """A history that notes the order of things; a list of failures comes first."""

    is_kept = True
    is_costly = False

    def __init__(self, log, failures=()) -> None:
        self.log = log
        self.failures = list(failures)

    def take(self, moment):
        anyio.from_thread.run(anyio.sleep, 0.02)
        self.log.append("kept")
        if self.failures:
            raise WorkspaceError(self.failures.pop(0))
        dropped = (Snapshot(1, moment, ""), Snapshot(2, moment, ""))
        return Taken(Snapshot(3, moment, "", added=1), dropped)


CALL, READ, FAIL = ([ToolCall(CallId("1"), name, "{}", {})] for name in ("bash", "read", "fail"))


class Runner:
    def __init__(self, log) -> None:
        self.log = log

    async def dispatch(self, calls, *, keep):  # noqa: ARG002 - a runner's form
        self.log.append("ran")
        if calls == FAIL:
            raise ValueError(calls)
        return ()


def play(kept, log, *batches):
    """Run batches of calls one after the other; return the events."""
    events = []

    async def run():
        now = lambda: Moment("turn", 1, "a")  # noqa: E731
        async with open_history(kept, events.append, now) as history:
            runner = KeepingRunner(Runner(log), history)
            for batch in batches:
                try:
                    await runner.dispatch(batch, keep=forget)
                except ValueError:
                    log.append("failed")
            await history.finish()

    anyio.run(run)
    return events


def test_snapshot_is_complete_before_the_next_call():
    """One comes first, of what there was, and one at the end, when the box is gone."""
    log = []

    play(Kept(log), log, CALL, CALL)

    assert log == ["kept", "ran", "kept", "ran", "kept", "kept"]


def test_calls_that_failed_may_have_written_too():
    """Their turn has its snapshot like any other."""
    log = []

    play(Kept(log), log, FAIL)

    assert log == ["kept", "ran", "failed", "kept", "kept"]


def test_person_is_told_of_snapshots_and_of_what_had_no_room():
    """By events."""
    log = []

    events = play(Kept(log), log, CALL)

    assert events[0] == SnapshotTaken(number=3, turn=1, added=1, modified=0, deleted=0)
    assert "s1 to s2 were dropped" in events[1].message


def test_failure_is_told_once_and_stops_nothing():
    """A full disk would say so after every turn."""
    log = []

    events = play(Kept(log, ["full", "full", "full", "full", "other"]), log, CALL, CALL, CALL)

    told = [event.message for event in events if isinstance(event, ErrorRaised)]
    assert told == ["no snapshot was taken: full", "no snapshot was taken: other"]
    assert log.count("ran") == 3


@pytest.mark.parametrize("kind", ["bind", "none"])
def test_mode_without_snapshots_takes_none(kind):  # noqa: ARG001 - both are alike here
    """Nothing is begun."""
    log = []
    kept = Kept(log)
    kept.is_kept = False

    assert play(kept, log, CALL) == []
    assert log == ["ran"]


def test_reading_is_not_looked_after_where_looking_is_costly():
    """Nothing can have changed; a call that writes is looked after as ever."""
    log = []
    kept = Kept(log)
    kept.is_costly = True

    play(kept, log, READ, CALL)

    assert log == ["kept", "ran", "ran", "kept"]
