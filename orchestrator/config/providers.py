"""Settings of model providers, as a person writes them under ``providers:`` in the configuration.

``orchestrator.model.catalog`` knows the well-known ones; settings override it or add new names.
"""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from orchestrator.config.dialect import DialectSettings
from orchestrator.schema.thinking import ThinkingLevel

ApiKind = Literal["anthropic", "openai-chat", "openai-responses", "gemini"]

KEY_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"}
)
"""Headers that carry secrets; those come from ``glovebox keys``, never from a plain file."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PriceTierSettings(_Strict):
    """US dollars per million tokens of a request whose prompt is longer than ``above`` tokens."""

    above: int = Field(gt=0)
    input_price: float = Field(ge=0)
    output_price: float = Field(ge=0)
    cache_read_price: float | None = Field(default=None, ge=0)
    cache_write_price: float | None = Field(default=None, ge=0)


class ModelSettings(_Strict):
    """What is known of one model; None leaves the catalogue's value."""

    context_window: int | None = Field(default=None, gt=0)
    max_output: int | None = Field(default=None, gt=0)
    input_price: float | None = Field(default=None, ge=0)
    output_price: float | None = Field(default=None, ge=0)
    cache_read_price: float | None = Field(default=None, ge=0)
    cache_write_price: float | None = Field(default=None, ge=0)
    price_tiers: tuple[PriceTierSettings, ...] | None = None
    """Other prices for long prompts; own prices without own tiers have none."""
    reasoning: bool | None = None
    """The model thinks before it answers, and its API gives the thoughts back encrypted."""
    thinking: tuple[ThinkingLevel, ...] | None = None
    """Levels of thinking that the model takes; none: it is never asked for one."""
    thinking_by: Literal["effort", "budget"] | None = None
    """Whether it is told a word or a number of tokens."""
    images: bool | None = None
    """It sees pictures; where it does not, it is told that there was one."""
    tier: Literal["prompt", "json", "native", "grammar"] | None = None
    """The firmest way in which its server holds an answer to a form."""
    dialect: DialectSettings | None = None
    """Chat Completions only: where the model's server differs from what the table says."""

    @field_validator("thinking", mode="before")
    @classmethod
    def _off_is_a_word(cls, value: object) -> object:
        """Take YAML's ``off`` for the level that it names: it reads as false."""
        if not isinstance(value, list | tuple):
            return value
        return tuple("off" if level is False else level for level in value)


class ProviderSettings(_Strict):
    """One provider; None leaves the catalogue's value. A new name needs ``api`` and ``base_url``."""

    api: ApiKind | None = None
    also: tuple[ApiKind, ...] = ()
    """Further APIs that the server speaks at the same address, for programs in the box."""
    base_url: str | None = None
    """The address the key is sent to, and nothing else."""
    key: str | None = None
    """The name under which ``glovebox keys`` knows the key; by default the provider's own name."""
    key_required: bool | None = None
    headers: dict[str, str] = {}
    """Extra headers that hold no secret."""
    idle_timeout_s: float | None = Field(default=None, gt=0)
    """Seconds a stream may stay silent."""
    cache: Literal["none", "short", "long"] | None = None
    """How long the provider keeps the beginning of a prompt: not at all, minutes, or an hour and
    more. None is ``short``."""
    dialect: DialectSettings | None = None
    """Chat Completions only: where the server differs from what the table says."""
    models: dict[str, ModelSettings] = {}

    @field_validator("base_url")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("expected http://HOST or https://HOST")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("expected no user, password, query or fragment in a base URL")
        return value.rstrip("/")

    @field_validator("headers")
    @classmethod
    def _no_secrets(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if name.lower() in KEY_HEADERS:
                raise ValueError(f"{name} carries a secret: use glovebox keys set NAME instead")
        return value
