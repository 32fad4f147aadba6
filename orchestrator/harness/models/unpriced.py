"""Says where a limit on money cannot bite: the prices of a model that may be asked are not known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from orchestrator.loop.limits import Limits
from orchestrator.model.client import ModelInfo
from orchestrator.schema.event import ErrorRaised, Observer


@dataclass(slots=True)
class UnpricedModels:
    """Those of one session that were told of."""

    limits: Limits
    observe: Observer
    _told: set[str] = field(default_factory=set, init=False)

    def tell(self, models: Iterable[ModelInfo]) -> None:
        """Name each that has no price and was not named yet, where there is a limit on money."""
        there = {
            "--max-budget-usd": self.limits.asked_cost_usd,
            "limits.cost_usd": self.limits.cost_usd,
            "limits.cost_usd_per_day": self.limits.cost_usd_per_day,
        }
        names = ", ".join(name for name, limit in there.items() if limit is not None)
        for info in models:
            if not names or info.input_price is not None or info.id in self._told:
                continue
            self._told.add(info.id)
            self.observe(
                ErrorRaised(
                    where=names,
                    message=f"the prices of {info.id} are not known, so its cost is not limited",
                    hint="limits.tokens and limits.steps still hold",
                )
            )
