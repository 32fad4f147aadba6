"""Counting votes."""

import pytest

from orchestrator.policy.ballot import MAX_NOTES, count, poll
from orchestrator.schema.decision import Decision


def _vote(effect, rule="r", **rest):
    return Decision(effect, rule, rest.pop("layer", "session"), rest.pop("reason", rule), **rest)


def test_nobody_voting_means_no(layer):
    """A question that no layer answers is refused, and says which setting would answer it."""
    (decision,) = poll([layer("limits: {steps: 1}")], lambda _: [], question="x", key="a.b")

    assert (decision.effect, decision.rule, decision.layer) == ("deny", "unmatched", "floor")
    assert "a.b" in decision.hint


def test_nobody_at_all_means_no():
    """No layers, no permission."""
    assert poll([], lambda _: [], question="x", key="k")[0].effect == "deny"


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ("allow ask deny", "deny"),
        ("allow ask", "ask"),
        ("allow allow", "allow"),
        ("deny ask", "deny"),
    ],
)
def test_the_strictest_vote_wins(effects, expected):
    """deny > ask > allow, in whatever order they come."""
    assert count([_vote(effect) for effect in effects.split()]).effect == expected


def test_the_vote_a_blanket_yes_cannot_answer_speaks_for_all():
    """An answer must not cover a part it was not asked about."""
    decision = count(
        [_vote("ask", "a"), _vote("ask", "b", unyielding=True), _vote("ask", "c", always=True)]
    )

    assert decision.rule == "b"
    assert decision.unyielding
    assert decision.always


def test_marks_of_weaker_votes_do_not_spread():
    """An allow that asks nothing changes nothing about a deny."""
    decision = count([_vote("deny"), _vote("ask", "x", always=True, unyielding=True)])

    assert (decision.always, decision.unyielding) == (False, False)


def test_a_rule_speaks_before_a_default():
    """The reader is told the specific cause."""
    assert count([_vote("ask", "default"), _vote("ask", "risk:publishes")]).rule == "risk:publishes"
    assert count([_vote("allow", "default:write"), _vote("allow", "mine")]).rule == "mine"


def test_other_findings_are_noted_once_and_not_without_end():
    """The person who confirms sees what else was found, in bounded space."""
    votes = [_vote("ask", f"r{n}") for n in range(20)]
    decision = count([*votes, *votes, _vote("allow", "fine")])

    assert len(decision.notes) == MAX_NOTES + 1
    assert decision.notes[0] == "r1: r1"
    assert decision.notes[-1] == "and 11 more"


def test_risks_are_kept_on_the_decision():
    """The whole command's risks ride along, whoever speaks."""
    assert count([_vote("allow")], risks=("opaque",)).risks == ("opaque",)
