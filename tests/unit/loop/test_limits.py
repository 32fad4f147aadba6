"""Limits, circles and pace."""

from dataclasses import replace

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
        (Spent(run_tokens=50), "skill_tokens"),
        (Spent(cost_today_usd=7.0), "cost_per_day"),
    ],
)
def test_a_met_limit_is_named(spent, kind):
    """Meeting a limit is enough; passing it is not needed."""
    limits = Limits(3, 100, 1.0, 9.0, cost_usd_per_day=7.0, skill_tokens=50)

    found = reached(limits, spent)

    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize("kind", ["tokens", "cost"])
def test_what_was_used_before_counts_to_the_sessions_limit_alone(kind):
    """A flag's counts since the session was opened."""
    policy, flag = Limits(tokens=100, cost_usd=1.0), Limits(None, None, None)
    flag = replace(flag, asked_tokens=100, asked_cost_usd=1.0)
    old = Spent(**{"tokens": 100} if kind == "tokens" else {"cost_usd": 1.0})
    new = Spent(**{"asked_tokens": 100} if kind == "tokens" else {"asked_cost_usd": 1.0})

    assert reached(policy, old).over == "session"
    assert reached(flag, old) is None
    assert reached(flag, new).over == "run"
    assert reached(flag, new).kind == reached(policy, old).kind == kind


def test_shares_are_told_once_for_each_limit_and_again_on_another_day():
    """The session's and the run's apart; a day's count begins anew at midnight."""
    told = Warnings()
    limits = Limits(None, 100, None, None, asked_tokens=10, cost_usd_per_day=10.0)

    def due(**spent):
        return [(w.kind, w.over, w.share) for w in told.due(limits, Spent(**spent))]

    first = due(tokens=55, asked_tokens=8, cost_today_usd=5.0)
    assert first == [
        ("tokens", "run", 0.8),
        ("tokens", "session", 0.5),
        ("cost_per_day", "day", 0.5),
    ]
    assert due(tokens=60, asked_tokens=9, cost_today_usd=6.0) == []
    assert due(tokens=80, asked_tokens=9, cost_today_usd=0.0) == [("tokens", "session", 0.8)]
    assert due(tokens=81, asked_tokens=9, cost_today_usd=9.0) == [("cost_per_day", "day", 0.8)]


def test_no_limit_is_no_limit():
    """None never stops a run."""
    assert reached(Limits(None, None, None, None), Spent(10**9, 10**12, 1e9, 1e9)) is None


def test_a_full_minute_makes_the_next_call_wait():
    """Calls are spread, none is lost."""
    pace = Pace(2)

    assert [pace.wait_s(t) for t in (0.0, 1.0, 2.0, 61.5)] == [0.0, 0.0, 58.0, 0.0]


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
