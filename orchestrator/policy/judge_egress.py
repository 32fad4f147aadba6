"""The verdict on what would leave the box: pure, strictest vote wins, and no error lets it out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from orchestrator.policy.addresses import check_address
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.egress_floor import near_refusal, refusal, shape_refusal
from orchestrator.policy.egress_terms import injections_of
from orchestrator.policy.egress_votes import DEFAULT, HINT, EgressVotes
from orchestrator.policy.git_push import announced_push
from orchestrator.policy.hosts import is_address
from orchestrator.policy.network_match import (
    USUAL_PORTS,
    CompiledNetworkRule,
    NetworkLayer,
    compile_network,
    package_rule,
)
from orchestrator.schema.decision import Decision
from orchestrator.schema.egress import (
    EgressRequest,
    EgressVerdict,
    InjectionTerms,
    Scheme,
    Terms,
)
from orchestrator.schema.packages import READING, Packages

_MOST_REMEMBERED = 512
_LONGEST_REMEMBERED = 512
"""Characters of a target: what a box asks for must not fill the host's memory."""

_SCHEMES: tuple[Scheme, ...] = ("https", "http", "tcp")
"""What a tunnel is for, the most careful first."""


class EgressRules:
    """All layers' network sections, ready to ask."""

    def __init__(self, policy: EffectivePolicy, packages: Packages | None = None) -> None:
        """``packages`` knows what package clients fetch from; it is asked each time, as it learns."""
        self._layers = tuple(
            compile_network(layer, wanted=policy.network.packages) for layer in policy.layers
        )
        self._packages = packages
        fixed = not any(layer.packages for layer in self._layers)
        self._remembered = lru_cache(maxsize=_MOST_REMEMBERED)(self._judge) if fixed else None

    def judge(self, request: EgressRequest) -> EgressVerdict:
        """Return the verdict; never raises. What cannot be judged does not leave.

        A request that equals an earlier one has its verdict, for rules are pure: except where
        package clients are listed, as what they may fetch is learned.
        """
        judge = self._judge
        if self._remembered is not None and len(request.target) <= _LONGEST_REMEMBERED:
            judge = self._remembered
        try:
            decision, terms = judge(request)
        except Exception as err:  # noqa: BLE001 - the gate fails closed, whatever broke in it
            decision, terms = _broken(err), Terms()
        return EgressVerdict(decision, Terms() if decision.effect == "deny" else terms)

    def tunnel_scheme(self, host: str, port: int) -> Scheme:
        """Return what a connection to an end is for, by the rules that let it out.

        It must carry TLS (``https``), plain requests (``http``), or anything (``tcp``). Where no
        rule says so, it is ``http`` on its usual port, and else ``https``.
        """
        for scheme in _SCHEMES:
            layers = self._for(EgressRequest("connect", scheme, host, port))
            for item in _permits(layers):
                if scheme in item.schemes and item.covers(host, scheme, port):
                    return scheme
        return "http" if port == USUAL_PORTS["http"] else "https"

    @property
    def may_let_out(self) -> bool:
        """False where no request at all would be allowed or asked about."""
        voices = [layer.lets_out for layer in self._layers]
        return any(voices) and False not in voices

    @property
    def injections(self) -> tuple[InjectionTerms, ...]:
        """Every credential that some request may get."""
        found = (injections_of([item]) for item in _permits(self._layers))
        return tuple(dict.fromkeys(terms for one in found for terms in one))

    def _for(self, request: EgressRequest) -> tuple[NetworkLayer, ...]:
        """Return the layers, those that list the client whose server it is with a rule for that."""
        return tuple(self._with_packages(layer, request) for layer in self._layers)

    def _with_packages(self, layer: NetworkLayer, request: EgressRequest) -> NetworkLayer:
        if self._packages is None or not layer.packages:
            return layer
        client = self._packages.ecosystem(request, layer.packages)
        if client is None or client not in layer.packages:
            return layer
        return replace(layer, rules=(*layer.rules, package_rule(layer, client, request)))

    def _told(self, decision: Decision, request: EgressRequest) -> Decision:
        """Return a refusal that is nobody's rule with what package clients may do at that server."""
        if decision.effect != "deny" or decision.rule != DEFAULT or self._packages is None:
            return decision
        wanted = [client for layer in self._layers for client in layer.packages]
        client = self._packages.ecosystem(replace(request, method=None, target=""), wanted)
        if client is None:
            return decision
        if request.method in READING and self._packages.ecosystem(request, wanted) is not None:
            return decision
        if request.method not in READING:
            reason = f"packages of {client} are fetched with GET and HEAD alone"
            hint = "publishing, audits and the like need a network rule of their own"
        else:
            reason = f"{client} has no reason to fetch this: its index named no such file here"
            hint = "let the client itself fetch the index's page first, in this session"
        return replace(decision, rule=f"packages:{client}", reason=reason, hint=hint)

    def _judge(self, request: EgressRequest) -> tuple[Decision, Terms]:
        refused = shape_refusal(request)
        if refused is not None:
            return refused, Terms()
        layers = self._for(request)
        if not any(item.covers_host(request.host) for item in _permits(layers)):
            refused = near_refusal(request.host)
            if refused is not None:
                return refused, Terms()
        votes = EgressVotes(layers, request)
        if request.door == "dns":
            return votes.on_name(), Terms()
        if request.method is None:
            decision, terms = votes.on_tunnel()
        else:
            decision, terms = votes.on_request(request.method)
            decision = self._told(decision, request)
            push = announced_push(request)
            if decision.effect != "deny" and push is not None:
                pushing = self._judge(push)[0]
                decision = pushing if pushing.effect == "deny" else decision
        if decision.effect != "deny" and is_address(request.host):
            reason = check_address(request.host, terms.private)
            if reason is not None:
                return refusal("private-address", f"{request.host} is {reason}", HINT), Terms()
        return decision, terms


def _permits(layers: tuple[NetworkLayer, ...]) -> Iterator[CompiledNetworkRule]:
    """Yield every rule that lets something out."""
    for layer in layers:
        yield from (item for item in layer.rules if item.permits)


def _broken(err: Exception) -> Decision:
    reason = f"the gate failed on this: {type(err).__name__}: {str(err)[:200]}"
    return refusal("gate-error", reason, "write it in a simpler form; please report this as a bug")
