"""Limits, circles and pace."""

import pytest

from orchestrator.loop.limits import Limits, Pace, Spent, Warnings, reached
from orchestrator.schema.ids import Digest

A, B, OK, RED = Digest("sha256:a"), Digest("sha256:b"), Digest("sha256:ok"), Digest("sha256:red")


@pytest.mark.parametrize(
    ("spent", "kind"),
    [
        (Spent(steps=3), "steps"),
        (Spent(tokens=100), "tokens"),
        (Spent(cost_usd=1.0), "cost"),
        (Spent(seconds=9.0), "wall_time"),
        (Spent(tokens=50), "skill_tokens"),
        (Spent(cost_today_usd=7.0), "cost_per_day"),
    ],
)
def test_a_met_limit_is_named(spent, kind):
    """Meeting a limit is enough; passing it is not needed."""
    limits = Limits(3, 100, 1.0, 9.0, cost_usd_per_day=7.0, skill_tokens=50)

    found = reached(limits, spent)

    assert found is not None
    assert found.kind == kind


def test_what_was_spent_before_counts_to_the_sessions_money_alone():
    """A flag's counts since the session was opened."""
    policy, flag = Limits(cost_usd=1.0), Limits(None, None, None, asked_cost_usd=1.0)

    assert reached(policy, Spent(cost_usd=1.0)).over == "session"
    assert reached(flag, Spent(cost_usd=1.0)) is None
    assert reached(flag, Spent(asked_cost_usd=1.0)).over == "command"


def test_tokens_count_anew_for_each_thing_said_and_a_flags_over_the_command():
    """A chat of a day is not ended by the sum of its answers."""
    policy, flag = Limits(tokens=100), Limits(tokens=None, asked_tokens=100)

    assert reached(policy, Spent(asked_tokens=10**9)) is None
    assert reached(policy, Spent(tokens=100)).over == "run"
    assert reached(flag, Spent(tokens=100)) is None
    assert reached(flag, Spent(asked_tokens=100)).over == "command"


def test_shares_are_told_once_for_each_limit_and_again_where_it_counts_anew():
    """Policy's and the flag's apart; a day's count begins anew at midnight, a run's when asked."""
    told = Warnings()
    limits = Limits(None, 100, None, None, asked_tokens=10, cost_usd_per_day=10.0)

    def due(**spent):
        return [(w.kind, w.over, w.share) for w in told.due(limits, Spent(**spent))]

    first = due(tokens=55, asked_tokens=8, cost_today_usd=5.0)
    assert first == [
        ("tokens", "command", 0.8),
        ("tokens", "run", 0.5),
        ("cost_per_day", "day", 0.5),
    ]
    assert due(tokens=60, asked_tokens=9, cost_today_usd=6.0) == []
    assert due(tokens=80, asked_tokens=9, cost_today_usd=0.0) == [("tokens", "run", 0.8)]
    assert due(tokens=1, asked_tokens=9, cost_today_usd=9.0) == [("cost_per_day", "day", 0.8)]
    assert due(tokens=50, asked_tokens=9, cost_today_usd=9.0) == [("tokens", "run", 0.5)]


def test_no_limit_is_no_limit():
    """None never stops a run."""
    assert reached(Limits(None, None, None, None), Spent(10**9, 10**12, 1e9, 1e9)) is None


def test_a_full_minute_makes_the_next_call_wait():
    """Calls are spread, none is lost."""
    pace = Pace(2)

    waits = [pace.spread(1, now)[0][0] for now in (0.0, 1.0, 2.0, 61.5)]

    assert waits == [0.0, 0.0, 58.0, 0.0]


def test_calls_of_one_turn_begin_as_early_as_they_may():
    """Each minute's worth together; what may begin now is not held back by what may not."""
    pace = Pace(3)

    assert pace.spread(8, 10.0) == ((0.0, 3), (60.0, 3), (120.0, 2))
    assert pace.spread(2, 100.0) == ((30.0, 1), (90.0, 1))
    assert Pace(None).spread(500, 10.0) == ((0.0, 500),)
    assert pace.spread(0, 100.0) == ()


@pytest.mark.parametrize(
    ("limits", "shut"),
    [
        (Limits(tokens=0), True),
        (Limits(cost_usd=0.0), True),
        (Limits(cost_usd_per_day=0.0), True),
        (Limits(asked_tokens=0), True),
        (Limits(asked_cost_usd=0.0), True),
        (Limits(steps=0), False),
        (Limits(tokens=1, cost_usd=0.01, cost_usd_per_day=0.01), False),
    ],
)
def test_a_limit_of_nothing_forbids_any_call(limits, shut):
    """Calls beside the loop are made before it looks at its limits."""
    assert limits.forbids_any_call is shut
