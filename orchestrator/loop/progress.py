"""What a run has used so far, in its own turns and beside them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class Progress:
    """What one run has used so far."""

    beside: Callable[[], Beside]
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = 0.0
    """None for good once one call's cost is not known: a sum without it would be a lie."""
    cuts: int = 0
    """Answers in a row that were cut at the output limit."""
    circling: bool = False
    started: float = field(default_factory=time.monotonic)

    def spent(self) -> Spent:
        """Return what counts to the run's limits."""
        beside = self.beside()
        return Spent(
            self.turns,
            self.usage.total + beside.usage.total,
            (self.cost_usd or 0.0) + beside.known_cost_usd,
            time.monotonic() - self.started,
        )

    def total(self) -> tuple[Usage, float | None]:
        """Return usage and cost of the loop and of what was used beside it."""
        beside = self.beside()
        known = self.cost_usd is not None and beside.cost_usd is not None
        cost = (self.cost_usd or 0.0) + (beside.cost_usd or 0.0) if known else None
        return self.usage + beside.usage, cost

    def add_cost(self, cost_usd: float | None) -> None:
        """Add a call's cost."""
        known = self.cost_usd is not None and cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (cost_usd or 0.0) if known else None
