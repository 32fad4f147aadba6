from functools import partial

import anyio
import pytest

from orchestrator.dispatch.batch import PartialBatchError, forget
from orchestrator.harness.egress.unanswered import StoppingRunner, Unanswered
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import ToolResult
from tests.support.asking import no, question, yes
from tests.support.corridor import call


class Runner:
    """Runs calls by saying so."""

    async def dispatch(self, calls, *, keep):  # noqa: ARG002 - a runner's form
        return tuple(
            ToolResult(CallId(each.id), each.name, "ran", is_error=False) for each in calls
        )


def dispatched(unanswered):
    runner = StoppingRunner(Runner(), unanswered)
    return anyio.run(partial(runner.dispatch, [call("bash", command="x")], keep=forget))


def test_run_goes_on_where_somebody_answered():
    unanswered = Unanswered()
    unanswered.hear(question(), yes())
    unanswered.hear(question(), no())
    unanswered.hear(question(), no(by="timeout"))

    assert [result.output for result in dispatched(unanswered)] == ["ran"]


def test_run_ends_behind_the_calls_where_nobody_could_be_asked():
    """What has run has its result, and nothing waits to be run again."""
    unanswered, asked = Unanswered(), question()
    unanswered.hear(asked, no(by="nobody"))
    unanswered.hear(question("git push origin other"), no(by="nobody"))
    with pytest.raises(PartialBatchError) as caught:
        dispatched(unanswered)

    assert [result.output for result in caught.value.results] == ["ran"]
    assert caught.value.waiting == ()
    assert caught.value.stop.question is asked
