"""When a run must stop: pure counting, no clock of its own."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import groupby

from orchestrator.schema.head_event import BudgetWarning, Over

WARNED_SHARES = (0.5, 0.8)
"""Of a limit, from least to most."""


@dataclass(frozen=True, slots=True)
class Limits:
    """None stands for no limit."""

    steps: int | None = 200
    """Model turns until it settles on what was said."""
    tokens: int | None = 2_000_000
    """Cached ones too, until the model settles on what was said."""
    cost_usd: float | None = None
    """Of the session since it was made."""
    wall_time_s: float | None = None
    """Until the model settles on what was said; waiting for a person does not count."""
    tool_calls_per_minute: int | None = None
    repeat: int = 3
    """After so many equal calls with equal results in a row the model is told, after one more the
    run ends; 0 switches it off."""
    cost_usd_per_day: float | None = None
    """Of all sessions of one day, UTC."""
    skill_tokens: int | None = None
    """Until the model settles on what was said: what the skill that is on allows."""
    asked_tokens: int | None = None
    """Since the session was opened; what a flag of ``run`` or ``chat`` says."""
    asked_cost_usd: float | None = None
    """Since the session was opened."""
    asked_used_tokens: int = 0
    """What the command used before that, of ``asked_tokens``."""
    asked_used_cost_usd: float = 0.0

    @property
    def forbids_any_call(self) -> bool:
        """Say whether no model may be asked at all: nothing may be spent."""
        of_all = (self.tokens, self.cost_usd, self.cost_usd_per_day)
        spendable = (*of_all, self.asked_tokens, self.asked_cost_usd)
        return any(limit is not None and limit <= 0 for limit in spendable)


@dataclass(frozen=True, slots=True)
class Reached:
    """The limit that was met."""

    kind: str
    """``steps tokens cost cost_per_day wall_time skill_tokens repetition``."""
    value: float
    over: Over = "run"

    @property
    def facts(self) -> dict[str, str]:
        """Return what the chain has of it."""
        return {"kind": self.kind, "value": str(self.value), "over": self.over}


@dataclass(slots=True)
class Spent:
    """What counts to the limits."""

    steps: int = 0
    tokens: int = 0
    """Since something was said."""
    cost_usd: float = 0.0
    """Of the session since it was made."""
    seconds: float = 0.0
    cost_today_usd: float = 0.0
    """Of all sessions."""
    asked_tokens: int = 0
    """Since the session was opened."""
    asked_cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class Measure:
    """One limit that there is, and what is used of it."""

    kind: str
    limit: float
    used: float
    over: Over = "run"


def measured(limits: Limits, spent: Spent) -> tuple[Measure, ...]:
    """Return each limit that there is, with what is used of it."""
    asked_tokens = spent.asked_tokens + limits.asked_used_tokens
    asked_cost = spent.asked_cost_usd + limits.asked_used_cost_usd
    rows: tuple[tuple[str, float | None, float, Over], ...] = (
        ("steps", limits.steps, spent.steps, "run"),
        ("tokens", limits.asked_tokens, asked_tokens, "command"),
        ("tokens", limits.tokens, spent.tokens, "run"),
        ("cost", limits.asked_cost_usd, asked_cost, "command"),
        ("cost", limits.cost_usd, spent.cost_usd, "session"),
        ("cost_per_day", limits.cost_usd_per_day, spent.cost_today_usd, "day"),
        ("wall_time", limits.wall_time_s, spent.seconds, "run"),
        ("skill_tokens", limits.skill_tokens, spent.tokens, "run"),
    )
    return tuple(
        Measure(kind, limit, used, over) for kind, limit, used, over in rows if limit is not None
    )


def reached(limits: Limits, spent: Spent) -> Reached | None:
    """Return the first limit that forbids another turn."""
    for row in measured(limits, spent):
        if row.used >= row.limit:
            return Reached(row.kind, row.limit, row.over)
    return None


@dataclass(slots=True)
class Warnings:
    """Says once for each limit that a share of it is used."""

    _told: dict[tuple[str, Over], float] = field(default_factory=dict)

    def due(self, limits: Limits, spent: Spent) -> tuple[BudgetWarning, ...]:
        """Return what is to be told now, the highest share alone where several were passed."""
        found = []
        for row in measured(limits, spent):
            key = row.kind, row.over
            passed = [share for share in WARNED_SHARES if row.used >= share * row.limit]
            if not passed:
                # Another day has begun.
                self._told.pop(key, None)
            elif row.used < row.limit and passed[-1] > self._told.get(key, 0.0):
                self._told[key] = passed[-1]
                found.append(BudgetWarning(row.kind, passed[-1], row.used, row.limit, row.over))
        return tuple(found)

    def begin_run(self) -> None:
        """Forget what was told of limits that count anew."""
        for kind in ("steps", "tokens", "wall_time", "skill_tokens"):
            self._told.pop((kind, "run"), None)


@dataclass(slots=True)
class Pace:
    """Spreads tool calls so that no minute holds more than allowed."""

    per_minute: int | None
    minute_s: float = 60.0
    _times: deque[float] = field(default_factory=deque)

    def spread(self, calls: int, now_s: float) -> tuple[tuple[float, int], ...]:
        """Return when so many calls may begin, and count them: seconds from now, and how many then."""
        starts = [self._next(now_s) for _ in range(calls)]
        return tuple((at - now_s, len(list(group))) for at, group in groupby(starts))

    def _next(self, now_s: float) -> float:
        """Return when one more call may begin, and count it."""
        if self.per_minute is None:
            return now_s
        start = now_s
        if len(self._times) == self.per_minute:
            start = max(now_s, self._times.popleft() + self.minute_s)
        self._times.append(start)
        return start
