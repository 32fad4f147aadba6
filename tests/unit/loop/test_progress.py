"""What a run has used."""

import pytest

from orchestrator.loop.limits import Limits
from orchestrator.loop.progress import Beside, Progress, nothing_beside
from orchestrator.schema.message import Usage
from tests.support.corridor import call
from tests.support.loops import ToldRunner, open_loop, says
from tests.unit.loop.test_agent_loop import run


def still():
    """Stand for a clock that does not move."""
    return 0.0


def test_use_beside_the_loop_counts_to_limits_and_totals():
    """What programs in the box took is part of the run."""
    progress = Progress(lambda: Beside(Usage(5, 6), 0.5, 0.5), still, turns=2, usage=Usage(1, 2))
    progress.add(Usage(), 0.25)

    assert progress.spent().tokens == 14
    assert progress.spent().cost_usd == 0.75
    assert progress.total() == (Usage(6, 8), 0.75)


@pytest.mark.parametrize(("own", "beside"), [(None, 1.0), (1.0, None)])
def test_cost_that_is_not_known_makes_no_sum(own, beside):
    """What is known of it still counts to a limit."""
    progress = Progress(lambda: Beside(Usage(), beside, 0.5), still)
    progress.add(Usage(), own)

    assert progress.total()[1] is None
    assert progress.spent().cost_usd == (own or 0.0) + 0.5


def test_nothing_beside_changes_nothing():
    """A run without models in its box."""
    assert Progress(nothing_beside, still).total() == (Usage(), 0.0)


def test_box_that_used_up_the_runs_tokens_ends_the_run(tmp_path):
    """The loop is asked for its conclusion, as at any limit."""
    calls = call("bash", 1, command="echo hi")
    opened = open_loop(
        tmp_path,
        says(calls),
        says("over"),
        runner=ToldRunner(),
        limits=Limits(tokens=10),
        beside=lambda: Beside(Usage(20 * len(opened.model.prompts))),
    )
    end = run(opened)

    assert (end.status, end.limit.kind, end.answer) == ("limit", "tokens", "over")
    assert end.usage == Usage(40)


def test_turns_tokens_and_time_count_from_each_thing_said_and_money_over_all():
    """A chat that worked for an hour may work again."""
    at = [0.0]
    progress = Progress(nothing_beside, lambda: at[0], lambda: 7.5, 3.0)
    progress.turns, at[0] = 5, 60.0
    progress.usage = Usage(5)
    progress.add(Usage(), 1.0)
    progress.begin_run()
    progress.turns, at[0] = 6, 61.0
    progress.usage = Usage(7)

    spent = progress.spent()
    assert (spent.steps, spent.seconds) == (1, 1.0)
    assert (spent.tokens, spent.asked_tokens) == (2, 7)
    assert (spent.cost_usd, spent.asked_cost_usd, spent.cost_today_usd) == (4.0, 1.0, 7.5)


def test_what_each_run_used_adds_up_to_the_whole():
    """Also what a run used that was stopped: the next one tells of it."""
    progress = Progress(nothing_beside, still)
    progress.turns, progress.usage = 2, Usage(10)
    progress.add(Usage(), 0.5)
    assert progress.untold() == (2, Usage(10), 0.5)

    progress.turns, progress.usage = 3, Usage(15)
    progress.add(Usage(), 0.25)
    assert progress.untold() == (1, Usage(5), 0.25)
    assert progress.untold() == (0, Usage(), 0.0)
