"""How long a yes holds: the scopes, the narrowest first, and what each remembers in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from orchestrator.confirmation.gate import Question, Scope
from orchestrator.policy.units import parse_duration

SESSION_S = 7 * 86_400.0
"""A session that is not gone on with for a week is over for its answers."""
PROJECT_S = 90 * 86_400.0
"""Nobody remembers longer what was said yes to."""


def in_order(scopes: Iterable[Scope]) -> tuple[Scope, ...]:
    """Return the scopes, the narrowest first; once is always one of them."""
    return tuple(sorted({"once", *scopes}, key=_width))


def offered(question: Question) -> tuple[Scope, ...]:
    """Return how long a yes may hold: once alone where a rule asks each time anew.

    Once alone, too, where nobody can say what would run, and where the answer is kept elsewhere.
    """
    decision = question.decision
    if decision.always or decision.unyielding or question.kept_for or not question.session:
        return ("once",)
    return in_order(question.scopes)


def end_of(scope: Scope, given: datetime) -> datetime:
    """Return when a yes of this scope ends at the latest; ValueError for ``once`` and no scope."""
    fixed = {"session": SESSION_S, "project": PROJECT_S}
    return given + timedelta(seconds=fixed.get(scope) or parse_duration(scope))


def remembered(scope: Scope) -> str:
    """Return in words what a yes of this scope is kept for."""
    if scope == "once":
        return "this call, this one time"
    if scope == "session":
        return "exactly this, until this session ends (also when it is resumed)"
    if scope == "project":
        return f"exactly this, in this project, for {PROJECT_S / 86_400:.0f} days"
    return f"exactly this, in this project, for {scope}"


def _width(scope: Scope) -> tuple[int, float]:
    rank = {"once": 0, "session": 1, "project": 3}.get(scope, 2)
    return rank, parse_duration(scope) if rank == 2 else 0.0
