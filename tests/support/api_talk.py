"""One session that talks to real APIs over HTTP: real clients, real file, context and loop.

Only the box is scripted. ``Talk.use`` changes to another model as ``/model`` does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from orchestrator.config.dialect import DialectSettings
from orchestrator.config.providers import ApiKind, ModelSettings, ProviderSettings
from orchestrator.confirmation.work_clock import WorkClock
from orchestrator.context.session_context import SessionContext
from orchestrator.context.speech import Speech
from orchestrator.context.summarising import Summariser
from orchestrator.credentials.secret import Secret
from orchestrator.harness.models.models import Models, ModelSource, open_models
from orchestrator.harness.models.roles import Roles
from orchestrator.harness.transcript import StoredTranscript
from orchestrator.loop.agent_loop import AgentLoop, RunResult
from orchestrator.loop.around import Around
from orchestrator.loop.limits import Limits
from orchestrator.loop.queue import EmptyQueue
from orchestrator.sandbox.scripted import Reply as BoxReply
from orchestrator.sandbox.scripted import ScriptedBox
from orchestrator.schema.decision import Decision
from orchestrator.schema.event_base import Event
from orchestrator.schema.message import Image, Text, UserMessage
from orchestrator.schema.request import ExecRequest, Request
from orchestrator.schema.thinking import ThinkingLevel
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from tests.support.corridor import SESSION, open_corridor
from tests.support.model_contract import BASH

MODELS: Mapping[ApiKind, str] = {
    "anthropic": "claude-mock",
    "openai-chat": "chat-mock",
    "openai-responses": "gpt-5-mock",
    "gemini": "gemini-3-mock",
}
REFUSED = "rm -rf /"
BOX = {
    "echo hi": BoxReply("hi\n"),
    "ls": BoxReply("notes.txt\n"),
    "echo blue whale": BoxReply("blue whale\n"),
}


@dataclass
class Talk:
    """A session and what belongs to it."""

    models: Models
    loop: AgentLoop
    store: SessionStore
    events: list[Event]
    watch: Callable[[Event], None] = lambda _: None
    """Called with each event."""

    async def say(self, *parts: str | Image) -> RunResult:
        """Say something, and let the model work until it is done."""
        content = tuple(Text(part) if isinstance(part, str) else part for part in parts)
        StoredTranscript(self.store).add(UserMessage(content))
        return await self.loop.run()

    async def use(self, name: str) -> None:
        """Ask another model from now on."""
        await self.models.switch(name)

    def of(self, kind: type[Event]) -> list[Any]:
        """Return the events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]


def settings_of(api: ApiKind, address: str, *, window: int = 100_000) -> ProviderSettings:
    """Return a provider at a server's address that thinks, and gets its thoughts back."""
    model = ModelSettings(
        context_window=window,
        max_output=8_192,
        thinking=("low", "high"),
        thinking_by="budget" if api == "anthropic" else "effort",
        reasoning=True,
    )
    return ProviderSettings(
        api=api,
        base_url=f"{address}/v1" if api.startswith("openai") else address,
        dialect=DialectSettings(reasoning_back="always", thinking="effort"),
        models={MODELS[api]: model},
    )


@asynccontextmanager
async def open_talk(
    folder: Path,
    first: str,
    providers: Mapping[str, ProviderSettings],
    *,
    key: Secret | None = None,
    thinking: ThinkingLevel | None = "high",
    fallback: tuple[str, ...] = (),
    environ: Mapping[str, str] | None = None,
) -> AsyncIterator[Talk]:
    """Begin a session with the model ``first``, as it is given to ``-m``."""
    events: list[Event] = []

    def observe(event: Event) -> None:
        events.append(event)
        talk.watch(event)

    policy: Any = SimpleNamespace(name="p", model_allowed=lambda _: True, models_allow=())
    source = ModelSource(providers, environ or {}, lambda _: key or Secret("sk-1"), print, str)
    corridor = open_corridor(folder, ScriptedBox(BOX), evaluate=_judge, observe=observe)
    roles = Roles(first, fallback=fallback, thinking=thinking)
    header = SessionHeader(SESSION, "/project", "2026-01-01T00:00:00Z")
    async with open_models(roles, policy, source, observe=observe) as models:
        store = SessionStore.create(folder / "session.jsonl", header)
        context = SessionContext(
            store,
            lambda: models.info,
            lambda: Summariser(models, _render, "s"),
            observe,
            corridor.output.scrub,
        )
        loop = AgentLoop(
            models,
            corridor.dispatcher,
            StoredTranscript(store),
            audit=corridor.audit,
            speech=lambda: Speech("You run commands.", (BASH,), thinking),
            limits=Limits(),
            output=corridor.output,
            observe=observe,
            around=Around(context, EmptyQueue(), WorkClock()),
        )
        talk = Talk(models, loop, store, events)
        try:
            yield talk
        finally:
            store.close()


def _judge(request: Request, tool: str) -> Decision:  # noqa: ARG001 - the policy's form
    refused = isinstance(request, ExecRequest) and request.command == REFUSED
    return Decision("deny" if refused else "allow", "rule-1", "session", "it destroys")


def _render(name: str, arguments: Mapping[str, Any]) -> str:  # noqa: ARG001 - the texts' form
    return f"Write the {name}."
