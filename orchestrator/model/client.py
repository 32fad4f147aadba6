"""The Protocol of a model, the prompt it gets and the pieces it streams."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from orchestrator.schema.message import AssistantMessage, Message, ToolDefinition, Usage
from orchestrator.schema.picture_tokens import PictureRule
from orchestrator.schema.prices import PriceTier
from orchestrator.schema.thinking import ThinkingLevel

Tier = Literal["prompt", "json", "native", "grammar"]
"""How a server can be held to a form: by words alone, to any JSON object, to a schema by the
provider itself, or to a schema by the sampler of a server of one's own."""


@dataclass(frozen=True, slots=True)
class OutputShape:
    """The form of an answer that a program reads."""

    name: str
    """Letters, digits, ``_`` and ``-``; at most 64."""
    schema: Mapping[str, Any]
    """JSON Schema of an object, draft 2020-12."""
    tier: Tier
    """How the server is asked to hold to it; what it answers is checked all the same."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model; prices are US dollars per million tokens."""

    provider: str
    name: str
    context_window: int
    max_output: int
    input_price: float | None = None
    output_price: float | None = None
    cache_read_price: float | None = None
    cache_write_price: float | None = None
    images: bool = True
    """It sees pictures."""
    pictures: PictureRule = "unknown"
    """By whose rule a picture's tokens are reckoned."""
    thinking: tuple[ThinkingLevel, ...] = ()
    """Levels that it can be asked for, from least to most; empty where it cannot be asked."""
    tier: Tier = "prompt"
    """The firmest way to hold it to a form."""
    tiers: tuple[PriceTier, ...] = ()
    """Other prices for longer prompts; ``orchestrator.model.prices`` reckons with them."""

    @property
    def picture_rule(self) -> PictureRule:
        """How a picture counts in a request to it."""
        return self.pictures if self.images else "unseen"

    @property
    def id(self) -> str:
        """``provider/name``."""
        return f"{self.provider}/{self.name}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a model."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...] = ()
    purpose: Literal["turn", "conclusion", "summary", "structured"] = "turn"
    """All but a turn are asked for without tools."""
    thinking: ThinkingLevel | None = None
    """None leaves the model its own default."""
    cache_key: str = ""
    """The same for all requests that share a beginning: the session's id."""
    answers: int | None = None
    """How many answers of the model stand on the conversation's path, also those that a summary
    took the place of; None: as many as ``messages`` has."""
    shape: OutputShape | None = None
    """The form that the answer is to have; None for free text."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a streamed answer; ``void``: all pieces before it are, as the call is made anew.

    ``call``: of a tool call's arguments, as they came; to be counted, not shown.
    """

    kind: Literal["text", "thinking", "call", "void"]
    text: str


OnDelta = Callable[[Delta], None]
OnBroken = Callable[[ModelInfo, Usage], Awaitable[None]]
"""Called for each try that broke off after something of an answer came, with what it used, about."""


async def uncounted(_info: ModelInfo, _usage: Usage) -> None:
    """Count nothing of a try that broke off: for callers without limits."""


class ModelClient(Protocol):
    """A model that completes a prompt; raises ModelError, or ScriptError from the scripted one."""

    @property
    def info(self) -> ModelInfo:
        """Return what is known of the model."""
        ...

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Return the whole message after streaming it; never a half one."""
        ...
