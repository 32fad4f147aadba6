"""What a call used, by the provider's word where there is one, else by its bytes. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.egress.endpoint.model_call import CallOutcome
from orchestrator.egress.endpoint.prepare import Prepared
from orchestrator.egress.endpoint.relay import Relayed
from orchestrator.schema.message import Usage
from orchestrator.schema.prices import prompt_tokens


@dataclass(frozen=True, slots=True)
class Counted:
    """The usage, and whether it is a guess."""

    usage: Usage
    cost_usd: float | None
    estimated: bool = False
    applies: bool = True
    """False for a call that takes no tokens."""

    @property
    def settled(self) -> tuple[Usage, float | None]:
        """Return what the budget takes."""
        return self.usage, self.cost_usd

    @property
    def outcome(self) -> CallOutcome:
        """Return what is recorded of it."""
        usage = self.usage if self.applies else None
        cost = self.cost_usd if self.applies else None
        return CallOutcome(None, usage=usage, estimated=self.estimated, cost_usd=cost)


NOTHING = Counted(Usage(), 0.0, applies=False)


def counted(done: Relayed, prepared: Prepared | None) -> Counted:
    """Return what a call used; a call that broke off is counted by what had passed."""
    if prepared is None or not prepared.amount.tokens or not done.sent:
        return NOTHING
    if done.status is not None and done.status >= 300:
        return NOTHING
    reported = done.meter.usage if done.meter else None
    if reported is not None and not reported.total:
        # A server that counts nothing is no free one.
        reported = None
    if reported is not None and done.complete:
        return Counted(reported, _cost(reported, done, prepared))
    output = min(done.meter.output_estimate if done.meter else 0, prepared.output_most)
    if reported is None:
        usage = Usage(input=prepared.input_estimate, output=output)
    else:
        usage = Usage(
            reported.input,
            max(reported.output, output),
            reported.cache_read,
            reported.cache_write,
        )
    return Counted(usage, _cost(usage, done, prepared), estimated=True)


def _cost(usage: Usage, done: Relayed, prepared: Prepared) -> float | None:
    cost = prepared.price.cost(usage)
    longer = done.meter.kept_longer if done.meter else 0
    more = prepared.price.kept_longer(longer, prompt_tokens(usage))
    return None if cost is None else cost + more
