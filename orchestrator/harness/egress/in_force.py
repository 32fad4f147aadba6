"""The network rules that hold now. They are swapped whole, and each set has a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressRequest, EgressVerdict
from orchestrator.schema.ids import Digest

Judge = Callable[[EgressRequest], EgressVerdict]
"""Pure: the same request gets the same verdict for as long as the rules hold."""

KEPT = 4096
"""Verdicts that are remembered; a box may ask about any number of different things."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict, and the rules that it comes from."""

    verdict: EgressVerdict
    generation: int


class RulesInForce:
    """One session's."""

    def __init__(self, judge: Judge, digest: Digest) -> None:
        """Begin with these rules; ``digest`` is of the policy that they are from."""
        self._judge = judge
        self._kept: dict[EgressRequest, Ruling] = {}
        self.digest = digest
        self.generation = 1

    def ruling(self, request: EgressRequest) -> Ruling:
        """Return what the rules say; an error inside of them is a no."""
        found = self._kept.get(request)
        if found is None:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            found = self._kept[request] = Ruling(self._verdict(request), self.generation)
        return found

    def replace(self, judge: Judge, digest: Digest) -> None:
        """Take other rules; whatever was decided by the old ones is of an older generation."""
        self._judge = judge
        self._kept = {}
        self.digest = digest
        self.generation += 1

    def _verdict(self, request: EgressRequest) -> EgressVerdict:
        try:
            return self._judge(request)
        except Exception as err:  # noqa: BLE001 - the gate fails closed, whatever broke in it
            return EgressVerdict(gate_error(err))


def gate_error(err: Exception) -> Decision:
    """Return the refusal of what could not be judged."""
    return Decision(
        effect="deny",
        rule="gate-error",
        layer="floor",
        reason=f"the gate failed on this request: {type(err).__name__}: {str(err)[:200]}",
        hint="please report this as a bug",
    )
