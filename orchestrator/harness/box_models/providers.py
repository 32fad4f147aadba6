"""The providers that programs in the box may reach: what is configured, has its key, and may be used.

A key is looked for only where policy could let a model of its provider pass: a vault is not opened
for what nobody may ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from orchestrator.config.providers import ProviderSettings
from orchestrator.credentials.secret import Secret
from orchestrator.egress.endpoint.price import FREE, Price
from orchestrator.egress.endpoint.routes import Api
from orchestrator.egress.endpoint.upstream import Upstream
from orchestrator.errors import GloveboxError
from orchestrator.model.catalog import Target, is_loopback, resolve
from orchestrator.model.factory import Keys, cleartext_warning, key_of
from orchestrator.model.vendors import PROVIDERS
from orchestrator.policy.box_models import BoxModels
from orchestrator.policy.globs import name_glob

_VENDORS_BOTH: frozenset[Api] = frozenset({"openai-chat", "openai-responses"})
"""The vendor itself speaks both of its APIs."""
_ANY = "any"
"""Stands for a model where only the provider is asked about."""


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """Where providers are looked up."""

    settings: Mapping[str, ProviderSettings]
    environ: Mapping[str, str]
    keys: Keys
    note: Callable[[str], None]
    """Tells the person something."""
    model: str = ""
    """Of the session; its provider comes first."""


def box_upstreams(terms: BoxModels, facts: ProviderFacts) -> tuple[Upstream, ...]:
    """Return the providers in the order in which they are asked; one that cannot be used is told of."""
    found = []
    for name in _names(facts):
        if not may_use(terms, name):
            continue
        try:
            upstream = _upstream(name, facts)
        except GloveboxError as error:
            facts.note(f"models in the box: {error.message}; this provider is left out")
            continue
        if upstream is not None:
            found.append(upstream)
    return tuple(found)


def may_use(terms: BoxModels, provider: str) -> bool:
    """Say whether any model of a provider could be allowed."""
    return bool(terms.allow) and all(
        any(_reaches(glob, provider) for glob in globs) for globs in terms.allow
    )


def _reaches(glob: str, provider: str) -> bool:
    first, slash, _ = glob.partition("/")
    return "*" in first or (bool(slash) and name_glob(first).match(provider) is not None)


def _names(facts: ProviderFacts) -> Iterator[str]:
    """Yield the session's own provider, then configured ones, then vendors; each once."""
    own = facts.model.partition("/")[0] if "/" in facts.model else ""
    vendors = [name for name, known in PROVIDERS.items() if known.key_required]
    wanted = [own, *facts.settings, *(name for name in vendors if name != "openai-chat")]
    known = {*PROVIDERS, *facts.settings}
    yield from (name for name in dict.fromkeys(wanted) if name in known)


def _upstream(name: str, facts: ProviderFacts) -> Upstream | None:
    target = _target(f"{name}/{_ANY}", facts)
    asked_for = name in facts.settings or facts.model.startswith(f"{name}/")
    if not asked_for and facts.keys(target.key) is None:
        return None
    key = key_of(target, facts.keys)
    warning = cleartext_warning(target)
    if warning:
        facts.note(warning)
    return Upstream(
        name=name,
        apis=_apis(name, target, facts),
        base_url=target.base_url,
        key=key,
        price=lambda model: price_of(_target(f"{name}/{model}", facts), key),
        headers=target.headers,
        idle_timeout_s=target.idle_timeout_s,
        direct=is_loopback(target.base_url),
    )


def _target(spec: str, facts: ProviderFacts) -> Target:
    return resolve(spec, providers=facts.settings, environ=facts.environ)


def _apis(name: str, target: Target, facts: ProviderFacts) -> frozenset[Api]:
    settings = facts.settings.get(name, ProviderSettings())
    own: frozenset[Api] = frozenset({target.api, *settings.also})
    vendors = name in {"openai", "openai-chat"} and settings.base_url is None
    return own | _VENDORS_BOTH if vendors and settings.api is None else own


def price_of(target: Target, key: Secret | None) -> Price:
    """Return what a model costs; a server without a key bills nobody."""
    info = target.info
    price = Price(
        info.input_price,
        info.output_price,
        info.cache_read_price,
        info.cache_write_price,
        max_output=info.max_output,
        window=info.context_window,
        tiers=info.tiers,
    )
    if key is None and not target.key_required and not price.known:
        return replace(FREE, max_output=info.max_output, window=info.context_window)
    return price
