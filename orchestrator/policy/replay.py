"""A recorded session against another policy: which of its decisions would be others now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.judged import Judged, judge, judge_egress, judged_subject
from orchestrator.schema.decision import STRICTNESS, Decision, Effect
from orchestrator.schema.egress import EgressRequest
from orchestrator.schema.packages import Ecosystem


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call, or a request out of the box, that policy decided on, as the audit has it."""

    chain: str
    """Which record it is from: a session's id."""
    seq: int
    tool: str
    request: Judged
    effect: Effect
    rule: str
    answer: bool | None
    """What a person said; None where nobody was asked."""
    injected: tuple[str, ...] = ()
    """Secrets, by reference, that were put into a request out of the box."""

    @property
    def ran(self) -> bool:
        """True where the call was let through."""
        return self.effect == "allow" or bool(self.answer)


@dataclass(frozen=True, slots=True)
class Flip:
    """A call on which the policy decides otherwise than was decided."""

    call: RecordedCall
    now: Decision

    @property
    def direction(self) -> Literal["tighter", "looser"]:
        """Say which way."""
        tighter = STRICTNESS[self.now.effect] > STRICTNESS[self.call.effect]
        return "tighter" if tighter else "looser"

    def as_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "session": self.call.chain,
            "seq": self.call.seq,
            "tool": self.call.tool,
            "subject": judged_subject(self.call.request),
            "was": self.call.effect,
            "was_by": self.call.rule,
            "answer": self.call.answer,
            "now": self.now.effect,
            "now_by": self.now.rule,
            "layer": self.now.layer,
            "reason": self.now.reason,
            "direction": self.direction,
        }


def replay(policy: EffectivePolicy, calls: Iterable[RecordedCall]) -> Iterator[Flip]:
    """Yield every call whose effect would be another one; the rule may differ without that."""
    for call in calls:
        now = _judged(policy, call)
        if now.effect != call.effect:
            yield Flip(call, now)


@dataclass(frozen=True, slots=True)
class _RecordedClient:
    """The package client whose server a request was for, as the session knew."""

    client: str

    def ecosystem(self, _request: EgressRequest, wanted: Collection[Ecosystem]) -> Ecosystem | None:
        return next((client for client in wanted if client == self.client), None)


def _judged(policy: EffectivePolicy, call: RecordedCall) -> Decision:
    kind, _, client = call.rule.partition(":")
    if kind == "packages" and isinstance(call.request, EgressRequest):
        known = _RecordedClient(client)
        return judge_egress(policy, call.request, packages=known).decision
    return judge(policy, call.request, tool=call.tool)
