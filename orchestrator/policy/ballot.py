"""Votes and how they are counted: the strictest wins, and nobody voting means no."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from orchestrator.schema.decision import STRICTNESS, Decision, Risk

FLOOR = "floor"
"""Layer of what no policy lifts."""
MAX_NOTES = 8
_MAX_NOTE = 300
_DEFAULTS = ("default", "tool:default")


class Voter(Protocol):
    """A layer, or the part of one that a question is for."""

    @property
    def name(self) -> str:
        """The layer's name."""
        ...


_V = TypeVar("_V", bound=Voter)


def poll(
    layers: Sequence[_V],
    votes_of: Callable[[_V], Sequence[Decision]],
    *,
    question: str,
    key: str,
) -> list[Decision]:
    """Return every layer's votes on a question, or the refusal that stands when there are none.

    ``key`` names the setting that would answer the question. A project's own yes is no vote: it
    must not let through what nobody else allows.
    """
    votes = [
        vote
        for layer in layers
        for vote in votes_of(layer)
        if layer.name != "project" or vote.effect != "allow"
    ]
    return votes or [
        Decision(
            effect="deny",
            rule="unmatched",
            layer=FLOOR,
            reason=f"no layer of the policy votes on {question}",
            hint=f"the policy's owner can set {key}",
        )
    ]


def count(votes: Sequence[Decision], *, risks: tuple[Risk, ...] = ()) -> Decision:
    """Return the strictest vote, with the others that matter as notes.

    Among equals the one that a blanket yes cannot answer speaks for all, so that an answer never
    covers more than it should; then a rule before a default. There must be at least one vote.
    """
    effect = max((vote.effect for vote in votes), key=STRICTNESS.__getitem__)
    equals = [vote for vote in votes if vote.effect == effect]
    chosen = max(
        equals, key=lambda vote: (vote.unyielding, vote.always, not vote.rule.startswith(_DEFAULTS))
    )
    return replace(
        chosen,
        risks=risks,
        always=any(vote.always for vote in equals),
        unyielding=any(vote.unyielding for vote in equals),
        notes=_notes(chosen, votes),
    )


def _notes(chosen: Decision, votes: Sequence[Decision]) -> tuple[str, ...]:
    others = [vote for vote in votes if vote.effect != "allow" and vote.reason != chosen.reason]
    lines = list(dict.fromkeys(f"{vote.rule}: {vote.reason}"[:_MAX_NOTE] for vote in others))
    more = len(lines) - MAX_NOTES
    return (*lines[:MAX_NOTES], f"and {more} more") if more > 0 else tuple(lines)
