"""A conversation: what was said, what was called, what came back.

Messages are frozen and carry no provider's shapes; ``orchestrator.model`` translates at the
border and ``orchestrator.schema.codec`` gives their JSON form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from orchestrator.schema.ids import CallId

StopReason = Literal["end_turn", "tool_use", "max_tokens", "refusal", "pause", "aborted"]
"""``pause``: the provider stopped for its own reasons and goes on when it is sent the same again."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one model call; ``input`` leaves out what came from a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    estimated: int = 0
    """So many of them were reckoned from the texts, as the provider reported none that can be."""

    @property
    def total(self) -> int:
        """All tokens that passed, cached ones too."""
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        """Return both counts together."""
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.estimated + other.estimated,
        )

    def __sub__(self, other: Usage) -> Usage:
        """Return what came after ``other``, an earlier count of the same."""
        return Usage(
            self.input - other.input,
            self.output - other.output,
            self.cache_read - other.cache_read,
            self.cache_write - other.cache_write,
            self.estimated - other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text; never empty in a stored message."""

    text: str
    signature: str | None = None
    """Its provider's opaque mark, sent back unchanged to the model that gave it (Gemini)."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, sniffed and scaled before it got here."""

    media_type: str
    """``image/png``, ``image/jpeg``, ``image/gif`` or ``image/webp``."""
    data: str
    """Base64 without line breaks."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model's reasoning; goes back only to the provider that signed it."""

    text: str
    provider: str
    signature: str | None = None
    """The provider's opaque blob, sent back unchanged (a Responses item: its JSON)."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to use a tool, as it was sent."""

    id: CallId
    name: str
    raw_arguments: str
    """JSON text exactly as the model sent it; may be cut or malformed."""
    arguments: Mapping[str, Any] | None = None
    """The parsed object; None when ``raw_arguments`` is no JSON object."""
    signature: str | None = None
    """Its provider's opaque mark, sent back unchanged to the model that gave it (Gemini)."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model is told of a call."""

    call: CallId
    name: str
    output: str
    is_error: bool = False
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person, or the harness in the person's place, said."""

    content: tuple[Text | Image, ...]


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What a model said in one turn."""

    content: tuple[Text | Thinking | ToolCall, ...]
    stop_reason: StopReason
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """``provider/name`` as configured."""
    stop_word: str = ""
    """The provider's own word for its end where nobody foresaw it: ``stop_reason`` is then a guess."""

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in the order the model made them."""
        return tuple(part for part in self.content if isinstance(part, ToolCall))

    @property
    def text(self) -> str:
        """All text parts, joined without a separator."""
        return "".join(part.text for part in self.content if isinstance(part, Text))


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The results of one turn's calls, in the order of the calls."""

    results: tuple[ToolResult, ...]


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as a model sees it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    """JSON Schema of an object."""
