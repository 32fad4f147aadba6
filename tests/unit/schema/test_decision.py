"""Which of several votes counts."""

import pytest

from orchestrator.schema.decision import Decision, strictest


def vote(effect, rule="r"):
    return Decision(effect, rule, "session", "")


@pytest.mark.parametrize(
    ("effects", "wins"),
    [
        (["allow"], "allow"),
        (["allow", "ask"], "ask"),
        (["deny", "ask", "allow"], "deny"),
        (["ask", "deny"], "deny"),
    ],
)
def test_strictest_vote_wins(effects, wins):
    """deny over ask over allow, in any order."""
    assert strictest([vote(effect) for effect in effects]).effect == wins


def test_first_of_equals_gives_the_reason():
    """The order of votes is the order of layers."""
    assert strictest([vote("allow"), vote("ask", "first"), vote("ask", "second")]).rule == "first"


def test_no_vote_is_a_mistake_and_no_allow():
    """Whoever counts must have something to count."""
    with pytest.raises(ValueError, match="empty"):
        strictest([])
