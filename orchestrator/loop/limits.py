"""When a run must stop: pure counting, no clock of its own."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from orchestrator.schema.head_event import BudgetWarning

WARNED_SHARES = (0.5, 0.8)
"""Of a limit, from least to most."""


@dataclass(frozen=True, slots=True)
class Limits:
    """None stands for no limit."""

    steps: int | None = 200
    """Model turns until it settles on what was said."""
    tokens: int | None = 2_000_000
    """All tokens of the session, cached ones too."""
    cost_usd: float | None = None
    """Of the session."""
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

    @property
    def forbids_any_call(self) -> bool:
        """Say whether no model may be asked at all: nothing may be spent."""
        spendable = (self.tokens, self.cost_usd, self.cost_usd_per_day)
        return any(limit is not None and limit <= 0 for limit in spendable)


@dataclass(frozen=True, slots=True)
class Reached:
    """The limit that was met."""

    kind: str
    """``steps tokens cost cost_per_day wall_time skill_tokens repetition``."""
    value: float


@dataclass(slots=True)
class Spent:
    """What counts to the limits."""

    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    cost_today_usd: float = 0.0
    run_tokens: int = 0
    """Those of ``tokens`` that were used since something was said."""


def measured(limits: Limits, spent: Spent) -> tuple[tuple[str, float, float], ...]:
    """Return kind, limit and what is used of it, for each limit that there is."""
    pairs = (
        ("steps", limits.steps, spent.steps),
        ("tokens", limits.tokens, spent.tokens),
        ("cost", limits.cost_usd, spent.cost_usd),
        ("cost_per_day", limits.cost_usd_per_day, spent.cost_today_usd),
        ("wall_time", limits.wall_time_s, spent.seconds),
        ("skill_tokens", limits.skill_tokens, spent.run_tokens),
    )
    return tuple((kind, limit, used) for kind, limit, used in pairs if limit is not None)


def reached(limits: Limits, spent: Spent) -> Reached | None:
    """Return the first limit that forbids another turn."""
    for kind, limit, used in measured(limits, spent):
        if used >= limit:
            return Reached(kind, limit)
    return None


@dataclass(slots=True)
class Warnings:
    """Says once for each limit that a share of it is used."""

    _told: dict[str, float] = field(default_factory=dict)

    def due(self, limits: Limits, spent: Spent) -> tuple[BudgetWarning, ...]:
        """Return what is to be told now, the highest share alone where several were passed."""
        found = []
        for kind, limit, used in measured(limits, spent):
            passed = [share for share in WARNED_SHARES if used >= share * limit]
            if passed and used < limit and passed[-1] > self._told.get(kind, 0.0):
                self._told[kind] = passed[-1]
                found.append(BudgetWarning(kind, passed[-1], used, limit))
        return tuple(found)

    def begin_run(self) -> None:
        """Forget what was told of limits that count anew."""
        for kind in ("steps", "wall_time", "skill_tokens"):
            self._told.pop(kind, None)


@dataclass(slots=True)
class Pace:
    """Spreads tool calls so that no minute holds more than allowed."""

    per_minute: int | None
    _times: deque[float] = field(default_factory=deque)

    def wait_s(self, now_s: float) -> float:
        """Return the seconds to wait before a call at ``now_s``, and count the call."""
        if self.per_minute is None:
            return 0.0
        while self._times and now_s - self._times[0] >= 60.0:
            self._times.popleft()
        wait = 0.0
        if len(self._times) >= self.per_minute:
            wait = max(0.0, self._times[-self.per_minute] + 60.0 - now_s)
        self._times.append(now_s + wait)
        return wait
