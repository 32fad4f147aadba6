"""What a run has used."""

import pytest

from orchestrator.loop.limits import Limits
from orchestrator.loop.progress import Beside, Progress, nothing_beside
from orchestrator.schema.message import Usage
from tests.support.loops import open_loop, says
from tests.unit.loop.test_agent_loop import run


def test_use_beside_the_loop_counts_to_limits_and_totals():
    """What programs in the box took is part of the run."""
    progress = Progress(lambda: Beside(Usage(5, 6), 0.5, 0.5), turns=2, usage=Usage(1, 2))
    progress.add_cost(0.25)

    assert progress.spent().tokens == 14
    assert progress.spent().cost_usd == 0.75
    assert progress.total() == (Usage(6, 8), 0.75)


@pytest.mark.parametrize(("own", "beside"), [(None, 1.0), (1.0, None)])
def test_cost_that_is_not_known_makes_no_sum(own, beside):
    """What is known of it still counts to a limit."""
    progress = Progress(lambda: Beside(Usage(), beside, 0.5))
    progress.add_cost(own)

    assert progress.total()[1] is None
    assert progress.spent().cost_usd == (own or 0.0) + 0.5


def test_nothing_beside_changes_nothing():
    """A run without models in its box."""
    assert Progress(nothing_beside).total() == (Usage(), 0.0)


def test_box_that_used_up_the_runs_tokens_ends_the_run(tmp_path):
    """The loop is asked for its conclusion, as at any limit."""
    opened = open_loop(
        tmp_path, says("over"), limits=Limits(tokens=10), beside=lambda: Beside(Usage(20))
    )
    end = run(opened)

    assert (end.status, end.limit.kind) == ("limit", "tokens")
    assert end.usage == Usage(20)
