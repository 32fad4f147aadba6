"""How ``provider/name`` becomes a target: ``vendors`` and ``models.toml``, overridden by settings."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from orchestrator.config.providers import ApiKind, ModelSettings, ProviderSettings
from orchestrator.errors import ConfigError
from orchestrator.model.client import ModelInfo
from orchestrator.model.dialect import Dialect, dialect_of
from orchestrator.model.model_table import info_of, row_of
from orchestrator.model.vendors import IDLE_S, PROVIDERS, Provider
from orchestrator.schema.picture_tokens import PictureRule

_PICTURES: Mapping[str, PictureRule] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "gemini": "gemini",
}
"""By the table a provider's models are in."""


@dataclass(frozen=True, slots=True)
class Target:
    """Everything an adapter needs to call one model, save the key itself."""

    info: ModelInfo
    api: ApiKind
    base_url: str
    key: str
    key_required: bool
    headers: Mapping[str, str] = field(default_factory=dict)
    idle_timeout_s: float = IDLE_S
    reasoning: bool = False
    dialect: Dialect = field(default_factory=Dialect)
    """Chat Completions only."""
    thinking_by: Literal["effort", "budget"] = "effort"
    """Whether a level of thinking is told as a word or as a number of tokens."""
    cache: Literal["none", "short", "long"] = "short"
    """How long the provider keeps the beginning of a prompt."""
    cache_options: bool = False
    """Responses only: the model takes ``prompt_cache_options``."""


def resolve(
    spec: str,
    *,
    providers: Mapping[str, ProviderSettings],
    environ: Mapping[str, str],
) -> Target:
    """Return the target of ``provider/name``; settings win over environment, that over the table."""
    provider, slash, name = spec.partition("/")
    if not slash or not name.strip() or not provider:
        raise ConfigError(
            f"model: expected provider/name, local or scripted:FILE, got {spec!r}",
            hint=_suggestion(spec),
        )
    settings = providers.get(provider, ProviderSettings())
    known = _provider(provider, settings, environ)
    row = row_of(known.table, name)
    wanted = settings.models.get(name, ModelSettings())
    cache = settings.cache or "short"
    info = info_of(
        (provider, name),
        row,
        wanted,
        window=known.window,
        output=known.output,
        tier=known.tier,
        pictures=_PICTURES.get(known.table or "", "unknown"),
        hour=known.api == "anthropic" and cache == "long",
    )
    reasons = row.get("reasoning", known.reasoning or bool(info.thinking))
    return Target(
        info=info,
        api=known.api,
        base_url=known.base_url,
        key=known.key,
        key_required=known.key_required,
        headers=settings.headers,
        idle_timeout_s=settings.idle_timeout_s or known.idle_timeout_s,
        reasoning=reasons if wanted.reasoning is None else wanted.reasoning,
        dialect=dialect_of(provider, known.base_url, settings.dialect, wanted.dialect),
        thinking_by=wanted.thinking_by or row.get("by", "effort"),
        cache=cache,
        cache_options=row.get("cache") == "options",
    )


def _provider(name: str, settings: ProviderSettings, environ: Mapping[str, str]) -> Provider:
    known = PROVIDERS.get(name)
    if known is None:
        if settings.api is None or settings.base_url is None:
            raise ConfigError(
                f"model: unknown provider {name!r}: expected one of {', '.join(sorted(PROVIDERS))}",
                hint=f"a new one needs providers.{name}.api and .base_url in the configuration",
            )
        known = Provider(settings.api, settings.base_url, settings.key or name)
    from_environ = environ.get(known.base_url_variable) if known.base_url_variable else None
    required = known.key_required if settings.key_required is None else settings.key_required
    return Provider(
        api=settings.api or known.api,
        base_url=settings.base_url or _checked(known, from_environ) or known.base_url,
        key=settings.key or known.key,
        key_required=required,
        window=known.window,
        output=known.output,
        idle_timeout_s=known.idle_timeout_s,
        reasoning=known.reasoning,
        table=known.table,
        tier=known.tier,
    )


def _checked(known: Provider, value: str | None) -> str | None:
    """Return an address from the environment, held to the same rules as one from a file."""
    if not value:
        return None
    try:
        return ProviderSettings(base_url=value).base_url
    except ValueError as error:
        raise ConfigError(
            f"{known.base_url_variable}: expected http://HOST or https://HOST without user, "
            "password, query and fragment",
        ) from error


def is_loopback(base_url: str) -> bool:
    """Say whether an address names this machine alone."""
    host = urlsplit(base_url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _suggestion(spec: str) -> str:
    for provider, known in PROVIDERS.items():
        if row_of(known.table, spec):
            return f"did you mean {provider}/{spec}?"
    return "for example anthropic/claude-sonnet-5-5, openai/gpt-6.1-sol or ollama/qwen3"
