"""What a session has used so far, in its own turns and beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from orchestrator.loop.limits import Spent
from orchestrator.schema.message import Usage


@dataclass(frozen=True, slots=True)
class Beside:
    """What was used beside the loop, by programs in the box, and counts to its limits."""

    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    """None: not known."""
    known_cost_usd: float = 0.0
    """At least so much."""


def nothing_beside() -> Beside:
    """Return that nothing was used beside the loop."""
    return Beside()


def nothing_today() -> float:
    """Return that nothing was spent today."""
    return 0.0


@dataclass(slots=True)
class Progress:
    """What one session has used so far.

    Money counts over the session, and as tokens since it was opened; turns, tokens and time over
    one run too, that is until the model has settled on what was said.
    """

    beside: Callable[[], Beside]
    seconds: Callable[[], float]
    """Worked since the session came up."""
    today: Callable[[], float] = nothing_today
    """US dollars that all sessions have spent today, this one too."""
    cost_before_usd: float = 0.0
    """What the session cost before it was opened this time, as far as it is known."""
    is_running: bool = False
    """Whether a run is under way, which looks at its limits itself."""
    turns: int = 0
    """Since the session was opened, as all below."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    """None for good once one call's cost is not known: a sum without it would be a lie."""
    known_cost_usd: float = 0.0
    """At least so much."""
    _run_from: tuple[int, float, int] = (0, 0.0, 0)
    _told: tuple[Usage, int] = field(default_factory=lambda: (Usage(), 0))
    _told_cost_usd: float | None = 0.0

    def begin_run(self) -> None:
        """Count turns, time and tokens from here."""
        self.is_running = True
        self._run_from = self.turns, self.seconds(), self._tokens(self.beside())

    def spent(self) -> Spent:
        """Return what counts to the limits."""
        return replace(self.used(), cost_today_usd=self.today())

    def used(self) -> Spent:
        """Return what counts to the limits of the run, the session and the command, not the day's."""
        beside = self.beside()
        cost = self.known_cost_usd + beside.known_cost_usd
        tokens = self._tokens(beside)
        turns, seconds, earlier = self._run_from
        return Spent(
            steps=self.turns - turns,
            tokens=tokens - earlier,
            cost_usd=self.cost_before_usd + cost,
            seconds=self.seconds() - seconds,
            asked_tokens=tokens,
            asked_cost_usd=cost,
        )

    def _tokens(self, beside: Beside) -> int:
        return self.usage.total + beside.usage.total

    def total(self) -> tuple[Usage, float | None]:
        """Return usage and cost of the loop and of what was used beside it."""
        beside = self.beside()
        known = self.cost_usd is not None and beside.cost_usd is not None
        cost = (self.cost_usd or 0.0) + (beside.cost_usd or 0.0) if known else None
        return self.usage + beside.usage, cost

    def untold(self) -> tuple[int, Usage, float | None]:
        """Return turns, usage and cost since this was last asked, so that all answers add up."""
        usage, cost = self.total()
        (told, turns), told_cost = self._told, self._told_cost_usd
        self._told, self._told_cost_usd = (usage, self.turns), cost
        known = cost is not None and told_cost is not None
        more = (cost or 0.0) - (told_cost or 0.0) if known else None
        return self.turns - turns, usage - told, more

    def add(self, usage: Usage, cost_usd: float | None) -> None:
        """Add what a call used and cost."""
        self.usage += usage
        self.known_cost_usd += cost_usd or 0.0
        known = self.cost_usd is not None and cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (cost_usd or 0.0) if known else None
