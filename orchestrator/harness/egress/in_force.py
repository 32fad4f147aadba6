"""The network rules that hold now. They are swapped whole, and each set has a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import EgressRequest, EgressVerdict, Scheme
from orchestrator.schema.ids import Digest


class Rules(Protocol):
    """One policy's."""

    def judge(self, request: EgressRequest) -> EgressVerdict:
        """Return the verdict on one request."""
        ...

    def tunnel_scheme(self, host: str, port: int) -> Scheme:
        """Return what a tunnel to this place is read as."""
        ...


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict, and the rules that it comes from."""

    verdict: EgressVerdict
    generation: int


class RulesInForce:
    """One session's."""

    def __init__(self, rules: Rules, digest: Digest) -> None:
        """Begin with these rules; ``digest`` is of the policy that they are from."""
        self._rules = rules
        self.digest = digest
        self.generation = 1

    def ruling(self, request: EgressRequest) -> Ruling:
        """Return what the rules say; an error inside of them is a no.

        Each time anew: what package clients may fetch is learned while the session runs.
        """
        return Ruling(self._verdict(request), self.generation)

    def tunnel_scheme(self, host: str, port: int) -> Scheme:
        """Return what a tunnel to this place is read as; what cannot be told must be TLS."""
        try:
            return self._rules.tunnel_scheme(host, port)
        except Exception:  # noqa: BLE001 - it decides nothing: the tunnel itself is judged
            return "https"

    def replace(self, rules: Rules, digest: Digest) -> None:
        """Take other rules; whatever was decided by the old ones is of an older generation."""
        self._rules = rules
        self.digest = digest
        self.generation += 1

    def _verdict(self, request: EgressRequest) -> EgressVerdict:
        try:
            return self._rules.judge(request)
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
