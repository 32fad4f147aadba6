"""What programs in a session's box have used of models so far, for limits and totals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.egress.endpoint.budget import BoxSpent
from orchestrator.loop.limits import Spent
from orchestrator.loop.progress import Beside


@dataclass(slots=True)
class BoxUse:
    """One session's; nothing until there is an endpoint."""

    spent: Callable[[], BoxSpent] | None = None
    """Set with the endpoint; what it says stays true when that is closed."""
    of_session: Callable[[], Spent] | None = None
    """What counts to the session's limits, but for the day; None where nobody else asks a model."""

    def beside(self) -> Beside:
        """Return it in the loop's words."""
        if self.spent is None:
            return Beside()
        spent = self.spent()
        return Beside(spent.usage, spent.cost_usd, spent.known_cost_usd)
