"""When a run must stop: pure counting, no clock of its own."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from orchestrator.schema.ids import Digest


@dataclass(frozen=True, slots=True)
class Limits:
    """None stands for no limit."""

    steps: int | None = 200
    """Model turns of one run."""
    tokens: int | None = 2_000_000
    """All tokens of one run, cached ones too."""
    cost_usd: float | None = None
    wall_time_s: float | None = None
    tool_calls_per_minute: int | None = None
    repeat: int = 3
    """So many equal calls with equal results in a row end the run."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The limit that was met."""

    kind: str
    """``steps tokens cost wall_time repetition``."""
    value: float


@dataclass(slots=True)
class Spent:
    """What a run has used."""

    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0


def reached(limits: Limits, spent: Spent) -> Reached | None:
    """Return the first limit that forbids another turn."""
    pairs = (
        ("steps", limits.steps, spent.steps),
        ("tokens", limits.tokens, spent.tokens),
        ("cost", limits.cost_usd, spent.cost_usd),
        ("wall_time", limits.wall_time_s, spent.seconds),
    )
    for kind, limit, used in pairs:
        if limit is not None and used >= limit:
            return Reached(kind, limit)
    return None


@dataclass(slots=True)
class Repetition:
    """Sees a run going in circles: the same call with the same result, or two taking turns.

    Results count too, so a test that is run again after an edit is no repetition.
    """

    repeat: int
    _seen: deque[tuple[Digest, Digest]] = field(default_factory=lambda: deque(maxlen=64))

    def note(self, call: Digest, result: Digest) -> bool:
        """Record one call with its result; True when the run is going in circles."""
        self._seen.append((call, result))
        last = list(self._seen)
        if self.repeat < 1:
            return False
        return _cycles(last, 1, self.repeat) or _cycles(last, 2, self.repeat)


def _cycles(seen: list[tuple[Digest, Digest]], period: int, times: int) -> bool:
    """Say whether the last ``times`` rounds of ``period`` entries are equal."""
    span = period * times
    if len(seen) < span or times < 2:
        return False
    tail = seen[-span:]
    return all(tail[at] == tail[at % period] for at in range(span))


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
