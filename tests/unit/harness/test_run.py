"""One run from first event to last, in this process, in a real box."""

import os
import signal
from functools import partial

import anyio
import pytest

from orchestrator.config.settings import Settings
from orchestrator.errors import ConfigError
from orchestrator.harness.run import run_session
from orchestrator.schema.event import (
    ErrorRaised,
    SessionEnd,
    SessionStart,
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
    assert front.of(ToolEnd) == []
    assert '"type":"close"' in text

    front.watch = lambda _: None
    again = run(options({"text": "a"}, {"text": "b"}, resume=end.session), paths, front)
    assert (again.status, again.answer) == ("done", "b")
