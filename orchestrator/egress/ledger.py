"""Bytes that may still pass: of one request, of a rule's session, of a layer's session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from orchestrator.schema.egress import Budget, Terms

Way = Literal["upload", "download"]


class OverLimitError(Exception):
    """More bytes than policy lets pass; the text names the limit and is safe to show."""


@dataclass
class Ledger:
    """What passed in this session, by the name of the budget."""

    spent: dict[tuple[str, Way], int] = field(default_factory=dict)

    def left(self, budget: Budget, way: Way) -> int | None:
        """Return the bytes that may still pass; None where there is no limit."""
        most = budget.upload if way == "upload" else budget.download
        return None if most is None else max(0, most - self.spent.get((budget.name, way), 0))

    def spend(self, budget: Budget, way: Way, count: int) -> None:
        """Count bytes."""
        key = budget.name, way
        self.spent[key] = self.spent.get(key, 0) + count


@dataclass
class Meter:
    """Counts one request or tunnel against its own limits and the session's."""

    terms: Terms
    ledger: Ledger
    up: int = 0
    """Bytes that passed, heads included."""
    down: int = 0
    bodies: dict[Way, int] = field(default_factory=dict)

    def head(self, way: Way, count: int) -> None:
        """Count a head: it is a part of the session's sums, not of what one body may have."""
        self._check_budgets(way, count)
        self._count(way, count)

    def body(self, way: Way, count: int) -> None:
        """Count bytes that are about to pass; OverLimitError if they may not, and then none."""
        self.expect(way, count)
        self.bodies[way] = self.bodies.get(way, 0) + count
        self._count(way, count)

    def expect(self, way: Way, count: int) -> None:
        """Raise OverLimitError if a body of so many more bytes could not pass."""
        most = self.terms.max_upload if way == "upload" else self.terms.max_download
        if most is not None and self.bodies.get(way, 0) + count > most:
            raise OverLimitError(f"the rule's max_{way} is {most} bytes")
        self._check_budgets(way, count)

    def room(self, way: Way, count: int) -> int:
        """Return how many of ``count`` bytes may still pass."""
        most = self.terms.max_upload if way == "upload" else self.terms.max_download
        lefts = [self.ledger.left(budget, way) for budget in self.terms.budgets]
        if most is not None:
            lefts.append(most - self.bodies.get(way, 0))
        return max(0, min([count, *(left for left in lefts if left is not None)]))

    def _check_budgets(self, way: Way, count: int) -> None:
        for budget in self.terms.budgets:
            left = self.ledger.left(budget, way)
            if left is not None and count > left:
                most = budget.upload if way == "upload" else budget.download
                raise OverLimitError(
                    f"this session's {way} under {budget.name} is {most} bytes, {left} are left"
                )

    def _count(self, way: Way, count: int) -> None:
        if way == "upload":
            self.up += count
        else:
            self.down += count
        for budget in self.terms.budgets:
            self.ledger.spend(budget, way, count)
