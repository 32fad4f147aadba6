"""The well-known providers as data: their APIs, addresses and keys; their models stand in ``models.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.config.providers import ApiKind
from orchestrator.model.client import Tier

IDLE_S = 120.0
"""Seconds a stream may stay silent; vendors send pings or tokens far more often."""
SLOW_IDLE_S = 600.0
"""The same where a server may read a long prompt, or think, before it says its first word."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider as the catalogue knows it."""

    api: ApiKind
    base_url: str
    key: str
    key_required: bool = True
    base_url_variable: str | None = None
    """The environment variable by which the vendor's own clients learn another address."""
    window: int = 128_000
    """For models that are not in the table: small enough to be true of nearly all."""
    output: int = 8_192
    idle_timeout_s: float = IDLE_S
    reasoning: bool = False
    table: str | None = None
    """The section of ``models.toml``."""
    tier: Tier = "prompt"
    """The firmest way in which the server holds an answer to a form."""


_OPENAI = "https://api.openai.com/v1"


def _vendor(
    base_url: str,
    name: str,
    *,
    api: ApiKind = "openai-chat",
    tier: Tier = "json",
    table: bool = True,
) -> Provider:
    """Return a vendor whose models come from several houses: little is true of all of them."""
    return Provider(
        api,
        base_url,
        name,
        idle_timeout_s=SLOW_IDLE_S,
        table=name if table else None,
        tier=tier,
    )


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        "anthropic",
        "https://api.anthropic.com",
        "anthropic",
        base_url_variable="ANTHROPIC_BASE_URL",
        window=200_000,
        table="anthropic",
        tier="native",
    ),
    "openai": Provider(
        "openai-responses",
        _OPENAI,
        "openai",
        base_url_variable="OPENAI_BASE_URL",
        output=16_384,
        idle_timeout_s=SLOW_IDLE_S,
        reasoning=True,
        table="openai",
        tier="native",
    ),
    "openai-chat": Provider(
        "openai-chat",
        _OPENAI,
        "openai",
        base_url_variable="OPENAI_BASE_URL",
        output=16_384,
        idle_timeout_s=SLOW_IDLE_S,
        table="openai",
        tier="native",
    ),
    "gemini": Provider(
        "gemini",
        "https://generativelanguage.googleapis.com",
        "gemini",
        base_url_variable="GOOGLE_GEMINI_BASE_URL",
        window=1_000_000,
        output=65_536,
        idle_timeout_s=SLOW_IDLE_S,
        table="gemini",
        tier="native",
    ),
    "llamacpp": Provider(
        "openai-chat", "http://127.0.0.1:8080/v1", "llamacpp", key_required=False,
        window=32_768, output=4_096, idle_timeout_s=SLOW_IDLE_S, tier="grammar",
    ),
    "lmstudio": Provider(
        "openai-chat", "http://127.0.0.1:1234/v1", "lmstudio", key_required=False,
        window=32_768, output=4_096, idle_timeout_s=SLOW_IDLE_S, tier="grammar",
    ),
    "ollama": Provider(
        "openai-chat", "http://127.0.0.1:11434/v1", "ollama", key_required=False,
        window=32_768, output=4_096, idle_timeout_s=SLOW_IDLE_S, tier="grammar",
    ),
    "vllm": Provider(
        "openai-chat", "http://127.0.0.1:8000/v1", "vllm", key_required=False,
        window=32_768, output=4_096, idle_timeout_s=SLOW_IDLE_S, tier="grammar",
    ),
    # Vendors whose dialects `dialects.toml` knows.
    "xai": _vendor("https://api.x.ai/v1", "xai", api="openai-responses", tier="native"),
    "mistral": _vendor("https://api.mistral.ai/v1", "mistral"),
    "deepseek": _vendor("https://api.deepseek.com", "deepseek"),
    "moonshot": _vendor("https://api.moonshot.ai/v1", "moonshot"),
    "zai": _vendor("https://api.z.ai/api/paas/v4", "zai"),
    "groq": _vendor("https://api.groq.com/openai/v1", "groq"),
    "cerebras": _vendor("https://api.cerebras.ai/v1", "cerebras"),
    "together": _vendor("https://api.together.ai/v1", "together", table=False),
    "openrouter": _vendor("https://openrouter.ai/api/v1", "openrouter", table=False),
    "chutes": _vendor("https://llm.chutes.ai/v1", "chutes", table=False),
}  # fmt: skip
