"""What programs in the box may ask models for, under all layers together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from orchestrator.policy.globs import name_glob


@dataclass(frozen=True, slots=True)
class BoxModels:
    """The rules of the model endpoint; None: no layer limits it."""

    in_box: Literal["allow", "deny"] = "deny"
    allow: tuple[tuple[str, ...], ...] = ()
    """Lists of globs, of the session's models and of the box's; a model must match in each."""
    map: tuple[tuple[str, str], ...] = ()
    """Glob of a name that is asked for, and the model that answers instead."""
    remote: Literal["allow", "deny"] = "deny"
    """Whether the provider may add what a request names: searches, addresses, what it keeps."""
    max_tokens: int | None = None
    """Of one answer; one that asks for more gets so many."""
    tokens: int | None = None
    """Of a session, cached ones too."""
    cost_usd: float | None = None
    requests_per_minute: int | None = None
    tokens_per_day: int | None = None
    """Of all this user's sessions together, by the day in UTC."""
    cost_usd_per_day: float | None = None

    def allows(self, model: str) -> bool:
        """Say whether ``provider/name`` may be asked."""
        return (
            self.in_box == "allow"
            and bool(self.allow)
            and all(_matches(globs, model) for globs in self.allow)
        )

    def stand_in(self, name: str) -> str | None:
        """Return the model that answers in place of ``name``, or None."""
        return next((model for glob, model in self.map if name_glob(glob).match(name)), None)

    @property
    def limits_cost(self) -> bool:
        """Whether money is counted, so that a model without a known price cannot be used."""
        return self.cost_usd is not None or self.cost_usd_per_day is not None

    @property
    def limits_days(self) -> bool:
        """Whether use is counted over sessions."""
        return self.tokens_per_day is not None or self.cost_usd_per_day is not None


def _matches(globs: Iterable[str], model: str) -> bool:
    return any(name_glob(glob).match(model) for glob in globs)
