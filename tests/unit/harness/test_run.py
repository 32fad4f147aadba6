"""One run from first event to last, in this process, in a real box."""

import json
import os
import re
import signal
import traceback
from functools import partial

import anyio
import pytest

from orchestrator.config.settings import Settings
from orchestrator.engine.patience import END_S, SPENT_S
from orchestrator.errors import ConfigError
from orchestrator.harness.run import run_session
from orchestrator.harness.tidying import SWEEP_FAILED
from orchestrator.schema.event import (
    ErrorRaised,
    SessionEnd,
    SessionStart,
    SnapshotTaken,
    ToolEnd,
    ToolStart,
    WorkspaceChanged,
)

BASH = {"tool_calls": [{"name": "bash", "arguments": {"command": "echo $((6*7)) > made"}}]}


def run(options, paths, front):
    return anyio.run(partial(run_session, options, Settings(), paths, front=front))


def test_run_that_does_not_come_up_raises(options, paths, front):
    """There is no session to end: the front door reports the error."""
    with pytest.raises(ConfigError):
        run(options(tools=("nothing",)), paths, front)

    assert front.events == []


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_run_is_told_from_start_to_end(options, paths, front, project):
    """The last two events say what changed and how it ended; the host is untouched."""
    end = run(options(BASH, {"text": "made it"}), paths, front)

    last = front.events[-1]
    assert (end.status, end.exit_code, end.answer) == ("done", 0, "made it")
    assert isinstance(front.events[0], SessionStart)
    assert isinstance(front.events[-2], WorkspaceChanged)
    assert isinstance(last, SessionEnd)
    assert (last.status, last.exit_code, last.turns, last.answer) == ("done", 0, 2, "made it")
    assert [row["path"] for row in front.events[-2].changed] == ["made"]
    assert end.changed == 1
    assert not (project / "made").exists()


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_failure_in_the_run_still_ends_the_session(options, paths, front):
    """A model that fails is told, what it changed is counted, the code is its own."""
    refused = {"error": {"status": 400, "type": "invalid_request_error"}}
    end = run(options(BASH, refused, {"text": "never"}), paths, front)

    assert (end.status, end.exit_code, end.changed) == ("failed", 6, 1)
    assert front.of(ErrorRaised)[0].where == "ModelError"
    assert isinstance(front.events[-1], SessionEnd)
    assert '"status":"failed"' in paths.audit_log(end.session).read_text()


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 130)]
)
def test_signal_ends_the_run_in_order(options, paths, front, *, number, code):
    """The call is closed, the box ended, the chain signed: the session can go on."""
    endless = {"tool_calls": [{"name": "bash", "arguments": {"command": "sleep 60"}}]}
    front.watch = lambda event: isinstance(event, ToolStart) and os.kill(os.getpid(), number)

    end = run(options(endless, {"text": "never"}), paths, front)

    text = paths.audit_log(end.session).read_text()
    assert (end.status, end.exit_code) == ("interrupted", code)
    assert isinstance(front.events[-1], SessionEnd)
    assert [event.is_error for event in front.of(ToolEnd)] == [True]
    assert '"type":"close"' in text

    front.watch = lambda _: None
    again = run(options({"text": "a"}, {"text": "b"}, resume=end.session), paths, front)
    assert (again.status, again.answer) == ("done", "b")


SDK_LEAVES = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
"""The SDK's own: a socket whose connecting failed is left to the collector."""


def chain_of(paths, session, kind):
    lines = paths.audit_log(session).read_text().splitlines()
    return [record["body"] for record in map(json.loads, lines) if record["type"] == kind]


def waits_in(lines):
    return [float(found) for line in lines for found in re.findall(r"read timeout=([\d.]+)", line)]


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_signal_on_the_way_up_stops_the_run_before_it_begins(options, paths, front):
    """A start may take long, a build for one: whoever stopped it meanwhile meant the run."""

    class Stopping(type(front)):
        def note(self, text):
            super().note(text)
            if "no diff" in text:
                os.kill(os.getpid(), signal.SIGTERM)

    stopping = Stopping()
    end = run(options({"text": "said"}, workspace="bind"), paths, stopping)

    assert any("no diff" in note for note in stopping.notes)
    assert (end.status, end.exit_code, end.answer) == ("interrupted", 143, "")


@SDK_LEAVES
@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_engine_that_goes_in_the_middle_still_leaves_an_end(options, paths, front, proxy):
    """The box is ended and read without it; what it may still keep is told, with what to do."""
    endless = {"tool_calls": [{"name": "bash", "arguments": {"command": "sleep 60"}}]}
    seen = []

    def cut(event):
        seen.append(isinstance(event, ToolStart))
        if sum(seen) == 2:
            proxy.cut()

    front.watch = cut
    end = run(options(BASH, endless, {"text": "never"}), paths, front)

    last, changed = front.events[-1], front.of(WorkspaceChanged)
    reasons = [event.message for event in front.of(ErrorRaised)]
    [record] = chain_of(paths, end.session, "session_end")
    assert (end.status, end.exit_code, end.readable) == ("failed", 5, True)
    assert (last.type, last.status, last.exit_code) == ("session_end", "failed", 5)
    assert [row["path"] for event in changed for row in event.changed] == ["made"]
    assert any("engine went away" in reason for reason in reasons)
    assert record == {
        "status": "failed",
        "exit_code": 5,
        "changed": 1,
        "left": [f"box glovebox-{end.session}"],
    }
    assert len(chain_of(paths, end.session, "close")) == 1
    assert any(end.session in note and "glovebox gc" in note for note in front.notes)


@SDK_LEAVES
@pytest.mark.docker
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("mode", "status", "code", "changed"), [("overlay", "done", 0, 1), ("copy", "failed", 5, 0)]
)
def test_engine_that_goes_after_the_last_word(
    options, paths, front, proxy, *, mode, status, code, changed
):
    """A run whose changes nobody can read now is not called done; they are kept."""
    front.watch = lambda event: proxy.cut() if event.type == "message_end" and over() else None

    def over():
        return len(front.of(ToolEnd)) == 1

    end = run(options(BASH, {"text": "made it"}, workspace=mode), paths, front)
    proxy.listen()

    [record] = chain_of(paths, end.session, "session_end")
    last = front.events[-1]
    assert (end.status, end.exit_code, end.answer) == (status, code, "made it")
    assert (last.type, last.status, last.exit_code) == ("session_end", status, code)
    assert (end.readable, end.changed, record["changed"]) == (mode == "overlay", changed, changed)
    assert (record["status"], record["exit_code"]) == (status, code)
    hints = [event.hint for event in front.of(ErrorRaised) if event.where == "changes"]
    assert hints == ([] if end.readable else [f"they are kept: glovebox diff {end.session}"])


@SDK_LEAVES
@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_engine_that_answers_nothing_is_waited_for_once(options, paths, front, proxy):
    """Not at each step of the end; every step is told, and what is left is there to be swept."""
    # When no snapshot is under way: its call would be one of the working session.
    front.watch = lambda event: proxy.hang() if isinstance(event, SnapshotTaken) else None

    end = run(options(BASH, {"text": "made it"}, workspace="copy"), paths, front)
    proxy.wake()

    # A sweep waits beside the steps, if it has not been before.
    swept = [note for note in front.notes if note.startswith(SWEEP_FAILED)]
    steps = [event.message for event in front.of(ErrorRaised)]
    steps += [note for note in front.notes if note not in swept]
    waits = waits_in(steps)
    [record] = chain_of(paths, end.session, "session_end")
    assert (end.status, end.exit_code, end.readable) == ("failed", 5, False)
    assert SPENT_S < waits[0] <= END_S
    assert len(waits) > 1
    assert set(waits[1:]) == {SPENT_S}
    assert max(waits_in(swept), default=0.0) <= END_S
    assert record["left"] == [f"box glovebox-{end.session}"]
    assert any(end.session in note and "glovebox gc" in note for note in front.notes)


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_what_nobody_foresaw_still_leaves_an_end(options, paths, front):
    """A front door that breaks, for one; the failure itself is not hidden."""

    def stumble(event):
        if isinstance(event, ToolEnd):
            front.watch = lambda _: None
            raise ZeroDivisionError

    front.watch = stumble
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - its group is looked into below
        run(options(BASH, {"text": "never"}), paths, front)

    last = front.events[-1]
    [log] = (paths.state / "audit").glob("*.jsonl")
    [record] = chain_of(paths, log.stem, "session_end")
    assert "ZeroDivisionError" in "".join(traceback.format_exception(caught.value))
    assert (last.type, last.status, last.exit_code) == ("session_end", "failed", 1)
    assert record == {"status": "failed", "exit_code": 1, "changed": 1}
    assert "internal error: ZeroDivisionError" in front.of(ErrorRaised)[0].message
