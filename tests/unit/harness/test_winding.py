"""How a session ended, from what came of its work."""

import signal

import pytest

from orchestrator.errors import BoxError, GloveboxError, ModelError
from orchestrator.harness.ending import Signal
from orchestrator.harness.winding import EXIT_CODES, status_of
from orchestrator.loop.agent_loop import RunResult
from orchestrator.schema.message import Usage


def result(status):
    return RunResult(status, "", 1, Usage(), 0.0)


@pytest.mark.parametrize("status", EXIT_CODES)
def test_finished_work_says_itself_how_it_ended(status):
    assert status_of(result(status), None, Signal()) == (status, EXIT_CODES[status])


@pytest.mark.parametrize(
    ("error", "code"),
    [(GloveboxError("x"), 1), (BoxError("x"), 5), (ModelError("x", kind="server"), 6)],
)
def test_failure_has_the_code_of_its_kind(error, code):
    """Also where a signal came meanwhile: the failure is what went wrong."""
    assert status_of(None, error, Signal(signal.SIGINT)) == ("failed", code)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 130)]
)
def test_what_nobody_finished_was_interrupted(number, code):
    assert status_of(None, None, Signal(number)) == ("interrupted", code)
