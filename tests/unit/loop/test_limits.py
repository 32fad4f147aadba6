"""Limits, circles and pace."""

import pytest

from orchestrator.loop.limits import Limits, Pace, Repetition, Spent, reached
from orchestrator.schema.ids import Digest

A, B, OK, RED = Digest("sha256:a"), Digest("sha256:b"), Digest("sha256:ok"), Digest("sha256:red")


@pytest.mark.parametrize(
    ("spent", "kind"),
    [
        (Spent(steps=3), "steps"),
        (Spent(tokens=100), "tokens"),
        (Spent(cost_usd=1.0), "cost"),
        (Spent(seconds=9.0), "wall_time"),
    ],
)
def test_a_met_limit_is_named(spent, kind):
    """Meeting a limit is enough; passing it is not needed."""
    found = reached(Limits(3, 100, 1.0, 9.0), spent)

    assert found is not None
    assert found.kind == kind


def test_no_limit_is_no_limit():
    """None never stops a run."""
    assert reached(Limits(None, None, None, None), Spent(10**9, 10**12, 1e9, 1e9)) is None


def test_equal_calls_with_equal_results_are_a_circle():
    """The third time in a row is one too many."""
    seen = Repetition(3)

    assert [seen.note(A, OK) for _ in range(3)] == [False, False, True]


def test_equal_calls_with_other_results_are_none():
    """A test run again after an edit is work."""
    seen = Repetition(3)

    assert not any([seen.note(A, RED), seen.note(A, OK), seen.note(A, RED), seen.note(A, RED)])


def test_two_calls_taking_turns_are_a_circle():
    """Ping-pong is seen as well."""
    seen = Repetition(3)

    assert [seen.note(c, OK) for c in (A, B, A, B, A, B)][-1]


def test_repetition_can_be_switched_off():
    """Zero stands for no limit, as a chat may want it."""
    seen = Repetition(0)

    assert not any(seen.note(A, OK) for _ in range(9))


def test_a_full_minute_makes_the_next_call_wait():
    """Calls are spread, none is lost."""
    pace = Pace(2)

    assert [pace.wait_s(t) for t in (0.0, 1.0, 2.0, 61.5)] == [0.0, 0.0, 58.0, 0.0]
