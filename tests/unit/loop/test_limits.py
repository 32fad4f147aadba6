"""Limits, circles and pace."""

import pytest

from orchestrator.loop.limits import Limits, Pace, Spent, reached
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
    ],
)
def test_a_met_limit_is_named(spent, kind):
    """Meeting a limit is enough; passing it is not needed."""
    found = reached(Limits(3, 100, 1.0, 9.0, skill_tokens=50), spent)

    assert found is not None
    assert found.kind == kind


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
        (Limits(steps=0), False),
        (Limits(tokens=1, cost_usd=0.01, cost_usd_per_day=0.01), False),
    ],
)
def test_a_limit_of_nothing_forbids_any_call(limits, shut):
    """Calls beside the loop are made before it looks at its limits."""
    assert limits.forbids_any_call is shut
