"""Events of the head: prompt, context, model, skill, queue and budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from orchestrator.schema.event_base import Event


@dataclass(frozen=True, slots=True)
class CompactionStart(Event):
    """The conversation is about to be summarised, as it nears the end of the model's window."""

    type: ClassVar[str] = "compaction_start"
    reason: Literal["threshold", "overflow", "manual"]
    tokens: int
    """Of the conversation before."""


@dataclass(frozen=True, slots=True)
class CompactionEnd(Event):
    """The conversation was summarised, or ``problem`` says why not and nothing changed."""

    type: ClassVar[str] = "compaction_end"
    reason: Literal["threshold", "overflow", "manual"]
    tokens_before: int
    tokens_after: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ContextTrimmed(Event):
    """Parts of the next request were left out to make it fit, or as they were refused; the session file keeps them."""

    type: ClassVar[str] = "context_trimmed"
    part: Literal["tool_results", "images", "thoughts", "prompt"]
    count: int
    tokens: int
    """That were saved, about."""


@dataclass(frozen=True, slots=True)
class PromptAssembled(Event):
    """The system prompt was put together anew; tokens of each layer, about."""

    type: ClassVar[str] = "prompt"
    digest: str
    layers: Mapping[str, int]
    trimmed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelChange(Event):
    """Another model, or another level of thinking, from the next request on."""

    type: ClassVar[str] = "model_change"
    model: str
    thinking: str | None
    reason: Literal["user", "skill", "fallback"]


@dataclass(frozen=True, slots=True)
class SkillChange(Event):
    """A skill was switched on, or off where ``skill`` is null."""

    type: ClassVar[str] = "skill_change"
    skill: str | None
    by: Literal["user", "trigger", "model"]
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class QueueChange(Event):
    """What the person said meanwhile and waits to be told the model."""

    type: ClassVar[str] = "queue"
    steering: tuple[str, ...] = ()
    follow_up: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeafMoved(Event):
    """The conversation goes on from another entry; the branch it left was summarised or not."""

    type: ClassVar[str] = "leaf"
    target: str | None
    summarised: bool = False


Over = Literal["run", "command", "session", "day"]
"""What a limit counts over: the work on what was said last, this ``run`` or ``chat`` from its start
to its end, the session with all its resumes, all of today's sessions."""


@dataclass(frozen=True, slots=True)
class BudgetWarning(Event):
    """A share of a limit is used: 0.5, then 0.8."""

    type: ClassVar[str] = "budget"
    kind: str
    share: float
    used: float
    value: float
    over: Over = "run"


@dataclass(frozen=True, slots=True)
class CallsPaced(Event):
    """Calls wait, because policy allows only so many a minute."""

    type: ClassVar[str] = "paced"
    calls: int
    seconds: float
    per_minute: int
