"""What every request of a run carries besides the conversation."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.schema.message import ToolDefinition
from orchestrator.schema.shares import Shares
from orchestrator.schema.thinking import ThinkingLevel


@dataclass(frozen=True, slots=True)
class Speech:
    """The same bytes from turn to turn, until a skill or a model is switched."""

    system: str
    tools: tuple[ToolDefinition, ...]
    thinking: ThinkingLevel | None = None
    shares: Shares = field(default_factory=Shares)
    skill: str | None = None
    """The skill that is switched on; kept beside each answer."""
