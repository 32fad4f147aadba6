"""A wrapped program's session on the real engine, with a seat of the test's own."""

import json
from functools import partial

import anyio
import pytest

from orchestrator.config.settings import Settings
from orchestrator.errors import BoxError
from orchestrator.harness.options import NO_MODEL
from orchestrator.harness.wrap.run import WrapOrder, run_wrapped
from orchestrator.schema.event import (
    DecisionMade,
    ErrorRaised,
    SessionEnd,
    SessionStart,
    SnapshotTaken,
    ToolEnd,
)
from orchestrator.schema.stream import TerminalSize
from tests.support.seats import PipedSeat

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("engine")]


def wrapped(options, paths, front, seat, *argv, **more):
    order = WrapOrder(options(model=NO_MODEL, prompt=None, **more), argv)
    return anyio.run(partial(run_wrapped, order, Settings(), paths, front=front, seat=seat))


def chain(paths, session):
    lines = paths.audit_log(session).read_text().splitlines()
    return [(line["type"], line["body"]) for line in map(json.loads, lines)]


def test_program_works_on_the_project_with_pipes(options, paths, front, project):
    """Nothing of the project changes; the turn is kept, the chain says all."""
    seat = PipedSeat(given=b"hello\n")
    script = "cat - notes.txt; echo oops >&2; echo new > new.txt; exit 3"
    end = wrapped(options, paths, front, seat, "sh", "-c", script)

    assert (end.status, end.exit_code, end.changed) == ("failed", 3, 1)
    assert seat.said == {"stdout": b"hello\none\ntwo\n", "stderr": b"oops\n"}
    assert not (project / "new.txt").exists()
    kinds = [kind for kind, _ in chain(paths, end.session)]
    assert kinds.index("intent") < kinds.index("outcome") < kinds.index("session_end")
    [start] = front.of(SessionStart)
    assert "only the program's start is judged" in start.posture["facts"]["gate"]
    assert [event.turn for event in front.of(SnapshotTaken)] == [1]
    assert front.of(SessionEnd)[0].exit_code == 3
    assert front.of(DecisionMade)[0].effect == "allow"


def test_terminal_is_recorded_and_what_runs_on_it_seen(options, paths, front):
    """The size is the seat's."""
    seat = PipedSeat(size=TerminalSize(61, 17))
    end = wrapped(options, paths, front, seat, "sh", "-c", "stty size; env true")
    facts = chain(paths, end.session)

    assert b"17 61" in seat.shown
    [outcome] = [body for kind, body in facts if kind == "outcome"]
    assert ["true"] in [program["argv"] for program in outcome["programs"]]
    assert [body["who"]["via"] for kind, body in facts if kind == "terminal_start"] == ["wrap"]


@pytest.mark.parametrize(
    ("script", "status", "code"),
    [
        ("kill -TERM $$", "failed", 128 + 15),
        ("exit 0", "done", 0),
        ("exec /no/such/program", "failed", 127),
    ],
)
def test_code_is_the_programs(options, paths, front, script, status, code):
    """A signal's as shells tell it."""
    end = wrapped(options, paths, front, PipedSeat(), "bash", "-c", script)

    assert (end.status, end.exit_code) == (status, code)
    assert front.of(ToolEnd)[0].details["exit_code"] == (code if code < 128 else None)


def test_who_leaves_ends_it(options, paths, front):
    """And is not told that it failed."""
    end = wrapped(options, paths, front, PipedSeat(left="detached"), "true")

    assert (end.status, end.exit_code) == ("interrupted", 130)


def test_failure_on_the_way_is_told_and_the_session_ends_in_order(options, paths, front):
    """The program is ended by then; its changes are kept."""
    seat = PipedSeat(fails=BoxError("box: gone"))
    end = wrapped(options, paths, front, seat, "sh", "-c", "echo a | tee a; sleep 100")

    assert (end.status, end.exit_code, end.changed) == ("failed", 5, 1)
    assert front.of(ErrorRaised)[-1].message == "box: gone"
    assert front.of(SessionEnd)[0].status == "failed"
