"""Which provider and model answer a request, or why none does. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.endpoint.routes import Route
from orchestrator.egress.endpoint.upstream import Upstream
from orchestrator.policy.box_models import BoxModels

_ANY = "*"
ALLOW, MAP = "models.allow", "models.box.map"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Who is asked, and for what."""

    upstream: Upstream
    model: str
    """By the provider's own name."""
    asked: str
    """As the program named it."""
    rule: str
    """Key of the policy that let it pass."""

    @property
    def spec(self) -> str:
        """``provider/name``."""
        return f"{self.upstream.name}/{self.model}"


def choose(name: str, route: Route, upstreams: Sequence[Upstream], *, terms: BoxModels) -> Chosen:
    """Return who answers; the first provider of the call's API whose model is allowed.

    A name is mapped first, once; then taken as ``provider/name``, then as a provider's own.
    RefusedCallError says what may be asked for instead.
    """
    able = [upstream for upstream in upstreams if upstream.serves(route)]
    if not able:
        raise RefusedCallError(404, _no_provider(route, upstreams), rule="providers")
    stand_in = terms.stand_in(name)
    if stand_in is not None:
        rule, candidates = MAP, list(_named(stand_in, able))
    else:
        rule, candidates = ALLOW, [*_named(name, able), *((each, name) for each in able)]
    for upstream, model in candidates:
        if model and terms.allows(f"{upstream.name}/{model}"):
            return Chosen(upstream, model, name, rule)
    raise RefusedCallError(403, _not_allowed(name, stand_in, able, terms), rule=rule)


def _named(spec: str, able: Sequence[Upstream]) -> Iterable[tuple[Upstream, str]]:
    """Return what ``provider/name``, or a provider with one model, stands for."""
    provider, _, model = spec.partition("/")
    return ((each, model or each.only_model) for each in able if each.name == provider)


def allowed_words(able: Iterable[Upstream], terms: BoxModels) -> str:
    """Return what may be asked for, as policy writes it."""
    narrow = [
        ", ".join(globs) or "nothing" for globs in dict.fromkeys(terms.allow) if _ANY not in globs
    ]
    lists = ", and of these what matches ".join(narrow) or ("any" if terms.allow else "nothing")
    return f"allowed: {lists}; providers of this API: {', '.join(u.name for u in able)}"


def _not_allowed(
    name: str, stand_in: str | None, able: Sequence[Upstream], terms: BoxModels
) -> str:
    mapped = f", which stands for {stand_in}," if stand_in is not None else ""
    return (
        f"model {name!r}{mapped} is not allowed in this box ({allowed_words(able, terms)}). "
        "Ask for one of those, or ask the session's owner to add it to models.box.map"
    )


def _no_provider(route: Route, upstreams: Sequence[Upstream]) -> str:
    wanted = " or ".join(sorted(route.apis))
    there = "; ".join(f"{u.name} speaks {', '.join(sorted(u.apis))}" for u in upstreams) or "none"
    return (
        f"no provider of this session speaks {wanted}, and one API is not translated into "
        f"another (providers: {there}). Use a client of those, or have the session's owner "
        "configure a provider"
    )
