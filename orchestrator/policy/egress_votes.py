"""How the layers vote on one thing that would leave the box, and what a yes of theirs comes with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from orchestrator.policy.ballot import count, poll
from orchestrator.policy.egress_floor import near_refusal
from orchestrator.policy.egress_terms import Yes, session_budgets, terms_of
from orchestrator.policy.git_requests import begins_push
from orchestrator.policy.network_match import CompiledNetworkRule, NetworkLayer
from orchestrator.policy.url_paths import readings_of
from orchestrator.schema.decision import Decision, strictest
from orchestrator.schema.egress import EgressRequest, Terms, egress_subject

DEFAULT = "default:network"
"""Rule of a vote that is a section's default."""
HINT = "work without it, or say what you need from there and why, so that a person can allow it"

Matches = Callable[[CompiledNetworkRule], bool]


class EgressVotes:
    """Asks each layer about one sound request."""

    def __init__(self, layers: Sequence[NetworkLayer], request: EgressRequest) -> None:
        """The request is one that the floor lets be judged."""
        self._request = request
        self._known: dict[tuple[int, str, str], bool] = {}
        self._layers = [
            replace(layer, rules=tuple(item for item in layer.rules if self._is_for(item)))
            for layer in layers
        ]

    def on_name(self) -> Decision:
        """Return whether a name may be looked up: whether anything on it could be let out."""
        return self._possible(whole=True)

    def on_tunnel(self) -> tuple[Decision, Terms]:
        """Return the vote on a tunnel, as a whole or on opening it to judge what is in it."""
        request = self._request
        placed = [item for layer in self._layers for item in layer.rules]
        terms = self._terms(_any, each=[_any], sure=placed)
        reads = any(item.votes and item.rule.reads_requests for item in placed)
        if request.scheme == "http" or (reads and request.scheme != "tcp"):
            # What is opened is limited by what is judged inside of it.
            inside = Terms(inspect=True, private=terms.private)
            return self._possible(whole=False), inside
        return self._counted(_any), terms

    def on_request(self, method: str) -> tuple[Decision, Terms]:
        """Return the strictest vote on all methods and paths that a server may take it for."""
        methods = dict.fromkeys((method, *(item.upper() for item in self._request.overrides)))
        paths = readings_of(self._request.paths)
        asked = [(each, path) for each in methods for path in paths]
        questions = [self._asking(each, path) for each, path in asked]
        votes = [self._counted(question) for question in questions]
        decision = strictest(votes)
        each, path = asked[votes.index(decision)]
        if (each, path) != asked[0]:
            reading = f"; a server may take it for {each} {path}"
            decision = replace(decision, reason=decision.reason + reading)
        placed = [item for layer in self._layers for item in layer.rules]
        sure = [item for item in placed if all(question(item) for question in questions)]
        in_any = {id(item) for item in placed if any(question(item) for question in questions)}
        return decision, self._terms(lambda item: id(item) in in_any, each=questions, sure=sure)

    def _is_for(self, item: CompiledNetworkRule) -> bool:
        """Say whether a rule speaks of the request's end; of its name, where it is a look-up."""
        request = self._request
        if request.door == "dns":
            return item.covers_host(request.host)
        return item.covers(request.host, request.scheme, request.port)

    def _asking(self, method: str, path: str) -> Matches:
        upgrade, query = bool(self._request.upgrade), self._request.target.partition("?")[2]

        def matches(item: CompiledNetworkRule) -> bool:
            key = (id(item), method, path)
            if key not in self._known:
                known = item.covers_request(method, path, query=query, upgrade=upgrade)
                self._known[key] = known
            return self._known[key]

        return matches

    def _terms(
        self, matches: Matches, *, each: Sequence[Matches], sure: Sequence[CompiledNetworkRule]
    ) -> Terms:
        terms = terms_of(
            self._voting(matches),
            each=[self._voting(reading) for reading in each],
            sure=sure,
            https=self._request.scheme == "https",
        )
        return replace(terms, budgets=(*terms.budgets, *session_budgets(self._layers)))

    def _voting(self, matches: Matches) -> list[Yes]:
        """Return the layers that say yes, each with its rules that do."""
        voting: list[Yes] = []
        for layer in self._layers:
            found = [item for item in layer.rules if matches(item)]
            yes = [item for item in found if item.permits]
            if yes or (not found and layer.lets_out_by_default):
                voting.append((layer, yes))
        return voting

    def _counted(self, matches: Matches) -> Decision:
        """Return the count of every layer's rules that match, or of its default."""

        def votes_of(layer: NetworkLayer) -> Sequence[Decision]:
            found = [item for item in layer.rules if matches(item)]
            votes = [_vote(item, self._request) for item in self._asked_once(found)]
            return votes or _default(layer, self._request)

        return self._count(votes_of)

    def _asked_once(self, found: Sequence[CompiledNetworkRule]) -> Sequence[CompiledNetworkRule]:
        """Leave out who would ask about the begin of a push where git may read: the push is asked of."""
        target = self._request.target.partition("?")
        may_read = any(item.rule.effect == "allow" and "read" in item.rule.git for item in found)
        if not (may_read and begins_push(self._request.method, target[0], target[2])):
            return found
        return [item for item in found if item.rule.effect != "ask" or not item.rule.git]

    def _possible(self, *, whole: bool) -> Decision:
        """Return whether anything there could be let out: a yes to look closer, or a no.

        ``whole`` asks of a name with all its ports and schemes.
        """

        def votes_of(layer: NetworkLayer) -> Sequence[Decision]:
            shut = [item for item in layer.rules if item.shuts(whole=whole)]
            opened = [item for item in layer.rules if item.rule.effect != "deny"]
            votes = [_vote(item, self._request) for item in shut or opened]
            votes = votes or _default(layer, self._request)
            return [
                replace(vote, effect="allow") if vote.effect == "ask" else vote for vote in votes
            ]

        return self._count(votes_of)

    def _count(self, votes_of: Callable[[NetworkLayer], Sequence[Decision]]) -> Decision:
        request = self._request
        subject = egress_subject(replace(request, target=request.path))
        question = f"whether to {subject if request.method is None else f'send {subject}'}"
        return count(poll(self._layers, votes_of, question=question, key="network.default"))


def _any(_item: CompiledNetworkRule) -> bool:
    return True


def _vote(item: CompiledNetworkRule, request: EgressRequest) -> Decision:
    effect = item.rule.effect
    return Decision(
        effect=effect,
        rule=item.rule.id,
        layer=item.layer,
        reason=item.rule.reason or f"the rule {item.rule.id!r} says {effect} for {request.host}",
        hint=item.rule.hint or ("" if effect == "allow" else HINT),
    )


def _default(layer: NetworkLayer, request: EgressRequest) -> list[Decision]:
    if layer.default == "delegate" or (layer.default == "allow" and layer.name == "project"):
        return []
    near = near_refusal(request.host)
    if near is not None and layer.default != "deny":
        # A default means public names; another layer's rule for what is near does not change that.
        return [near]
    return [
        Decision(
            effect=layer.default,
            rule=DEFAULT,
            layer=layer.name,
            reason=f"no rule matches, and network.default is {layer.default}",
            hint="" if layer.default == "allow" else HINT,
        )
    ]
