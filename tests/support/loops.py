"""A loop put together for tests: a model that says given messages, a real session file and audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.confirmation.work_clock import WorkClock
from orchestrator.context.speech import Speech
from orchestrator.dispatch.batch import Keep
from orchestrator.dispatch.dispatcher import Dispatcher
from orchestrator.dispatch.output import OutputFilter
from orchestrator.harness.transcript import StoredTranscript
from orchestrator.loop.agent_loop import AgentLoop
from orchestrator.loop.around import Around
from orchestrator.loop.limits import Limits
from orchestrator.loop.progress import Beside, nothing_beside, nothing_today
from orchestrator.loop.queue import PersonQueue
from orchestrator.loop.seams import Context, ToolRunner
from orchestrator.loop.whole import WholeConversation
from orchestrator.model.client import Delta, ModelInfo, OnDelta, Prompt
from orchestrator.redaction.redactor import Redactor
from orchestrator.sandbox.scripted import ScriptedBox
from orchestrator.schema.event_base import Event
from orchestrator.schema.message import (
    AssistantMessage,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Usage,
    UserMessage,
)
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from tests.support.corridor import SESSION, Corridor, open_corridor

BASH = ToolDefinition("bash", "runs", {"type": "object"})


def says(
    *parts: str | Thinking | ToolCall, stop: str | None = None, usage: Usage | None = None
) -> AssistantMessage:
    """Return one answer of a model."""
    made = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    calls = any(isinstance(part, ToolCall) for part in made)
    reason: Any = stop or ("tool_use" if calls else "end_turn")
    return AssistantMessage(made, reason, usage or Usage(), "test/model")


Said = AssistantMessage | Exception | Callable[[Prompt], AssistantMessage]


@dataclass
class SpokenModel:
    """Says what it is given, in order, and keeps what it was asked; then fails the test."""

    answers: list[Said]
    prices: Mapping[str, float | None] = field(default_factory=dict)
    prompts: list[Prompt] = field(default_factory=list)
    before: Callable[[Prompt], None] = lambda _: None

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("test", "model", 200_000, 8_000, **self.prices)

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        self.before(prompt)
        self.prompts.append(prompt)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        message = answer if isinstance(answer, AssistantMessage) else answer(prompt)
        for part in message.content:
            if not isinstance(part, ToolCall):
                kind = "thinking" if isinstance(part, Thinking) else "text"
                for at in range(0, len(part.text), 7):
                    on_delta(Delta(kind, part.text[at : at + 7]))  # type: ignore[arg-type]
        return message


@dataclass
class ToldRunner:
    """Answers every call with the same words."""

    output: str | Callable[[int], str] = "ok"
    batches: list[tuple[ToolCall, ...]] = field(default_factory=list)

    async def dispatch(
        self,
        calls: Sequence[ToolCall],
        *,
        keep: Keep,  # noqa: ARG002 - a runner's form
    ) -> tuple[ToolResult, ...]:
        self.batches.append(tuple(calls))
        told = self.output if isinstance(self.output, str) else self.output(len(self.batches))
        return tuple(ToolResult(call.id, call.name, told) for call in calls)


@dataclass
class Opened:
    """A loop with everything around it in reach."""

    loop: AgentLoop
    model: SpokenModel
    corridor: Corridor
    store: SessionStore
    events: list[Event]
    queue: PersonQueue

    def of(self, kind: type[Event]) -> list[Any]:
        """Return the events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return the conversation as it would be sent now."""
        return self.store.messages()


def open_loop(
    folder: Path,
    *answers: Said,
    box: ScriptedBox | None = None,
    runner: ToolRunner | None = None,
    limits: Limits | None = None,
    prices: Mapping[str, float | None] | None = None,
    known: Mapping[str, str] | None = None,
    beside: Callable[[], Beside] = nothing_beside,
    today: Callable[[], float] = nothing_today,
    skill_tokens: Callable[[], int | None] = lambda: None,
    cost_before_usd: float = 0.0,
    context: Context | Callable[[SessionStore], Context] | None = None,
    clock: WorkClock | None = None,
    speech: Callable[[], Speech] | None = None,
    **corridor_options: Any,
) -> Opened:
    """Put a loop together; it runs calls in ``box``, or hands them to ``runner``."""
    corridor = open_corridor(folder, box or ScriptedBox(), known=known, **corridor_options)
    model = SpokenModel(list(answers), prices or {})
    header = SessionHeader(SESSION, "/project", "2026-01-01T00:00:00Z")
    store = SessionStore.create(folder / "session.jsonl", header)
    transcript = StoredTranscript(store)
    transcript.add(UserMessage((Text("do it"),)))
    around = context(store) if callable(context) else context
    queue = PersonQueue(corridor.events.append, corridor.output.scrub)
    runs: ToolRunner | Dispatcher = runner or corridor.dispatcher
    loop = AgentLoop(
        model,
        runs,
        transcript,
        audit=corridor.audit,
        speech=speech or (lambda: Speech("be good", (BASH,))),
        limits=limits or Limits(),
        output=OutputFilter(Redactor(known or {})),
        observe=corridor.events.append,
        around=Around(
            around or WholeConversation(transcript.messages, cache_key=SESSION),
            queue,
            clock or WorkClock(),
            beside=beside,
            today=today,
            skill_tokens=skill_tokens,
            cost_before_usd=cost_before_usd,
        ),
    )
    return Opened(loop, model, corridor, store, corridor.events, queue)
