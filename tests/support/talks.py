"""Long talks with a context in between, whose every request is held to what must be true of it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import anyio

from orchestrator.context.options import ContextOptions
from orchestrator.context.session_context import SessionContext
from orchestrator.context.sizes import fixed_tokens, message_tokens
from orchestrator.context.speech import Speech
from orchestrator.context.summarising import Summariser
from orchestrator.context.view import FIXED
from orchestrator.errors import ContextError
from orchestrator.model.anthropic_request import request_body as messages_body
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.schema.codec import encode_message
from orchestrator.schema.event_base import Event
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from orchestrator.sessions.store import SessionStore
from tests.support.contexts import Sums, render
from tests.support.model_contract import target_of
from tests.support.model_history import PIXEL
from tests.support.model_rules import messages_faults

SCRIPTS = ("word ", "盒子", "😀", "QUJDREVGMTIzNDU2", '{"n": 12},\n')


@dataclass(frozen=True)
class Turn:
    """What is said, what the model then does, and what comes of it; sizes in tokens, about."""

    said: int = 50
    script: int = 0
    results: tuple[tuple[int, ...], ...] = ()
    """Of each round of calls, the size of each result."""
    pictures: int = 0
    answer: int = 50
    back: int | None = None
    """First go on from so many entries ago."""
    window: int | None = None
    """First switch to a model with this window."""
    system: int | None = None
    """First switch to a skill whose prompt has this size."""
    broken: bool = False
    """The calls of the last round never get their results."""


class Failing(Sums):
    """A summariser that gives no whole summary where its plan says so."""

    def __init__(self, plan: Sequence[bool], size: int, *, window: int) -> None:
        super().__init__(window=window)
        self._plan, self._size = list(plan), size

    async def complete(self, prompt: Prompt, *, on_delta):
        fails = bool(self._plan) and self._plan[len(self.asked) % len(self._plan)]
        self.answers = ["" if fails else "s " * self._size]
        sent = fixed_tokens(prompt.system, ()) + sum(map(message_tokens, prompt.messages))
        assert sent <= self.info.context_window, "a request for a summary is too long itself"
        return await super().complete(prompt, on_delta=on_delta)

    def heal(self) -> None:
        self._plan = []


@dataclass
class LongTalk:
    """One conversation, and the model that it is held with."""

    store: SessionStore
    window: int
    sums: Failing
    factor: float = 1.0
    """How many real tokens one reckoned token is; 0 for a server that reports none."""
    events: list[Event] = field(default_factory=list)
    speech: Speech = field(default_factory=lambda: Speech("be good", ()))
    requests: int = 0
    refused: int = 0
    added: int = 0
    """Tokens that were said and answered, about."""
    _number: int = 0

    def __post_init__(self) -> None:
        self.context = SessionContext(
            self.store,
            lambda: self.info,
            lambda: Summariser(self.sums, render, "s"),
            self.events.append,
            lambda text: text,
            ContextOptions(),
        )

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("contract", f"w{self.window}", self.window, self.window // 4)

    async def hold(self, turns: Sequence[Turn]) -> None:
        """Have the whole talk."""
        for turn in turns:
            await self._take(turn)

    async def _take(self, turn: Turn) -> None:
        self._prepare(turn)
        words = _text(turn.script, turn.said)
        pictures = tuple(Image("image/png", PIXEL) for _ in range(turn.pictures))
        self._add(UserMessage((Text(words), *pictures)))
        for at, sizes in enumerate(turn.results):
            prompt = await self.request()
            if prompt is None:
                return
            calls = [self._call() for _ in sizes]
            self._answer(prompt, Thinking("hm", "contract", "c2ln"), Text("I look"), *calls)
            if turn.broken and at + 1 == len(turn.results):
                return
            room = max(self.context.room(self.speech) // len(sizes), 512)
            texts = [_text(turn.script, min(size, room)) for size in sizes]
            self._add(
                ToolMessage(
                    tuple(
                        ToolResult(call.id, call.name, text, images=pictures[: at % 2])
                        for call, text in zip(calls, texts, strict=True)
                    )
                )
            )
        prompt = await self.request()
        if prompt is not None:
            self._answer(prompt, Text(_text(turn.script, turn.answer)))

    def _prepare(self, turn: Turn) -> None:
        entries = [entry for entry in self.store.tree.path() if entry.type == "message"]
        if turn.back is not None and entries:
            self.store.append("leaf", {"target": entries[-1 - turn.back % len(entries)].id})
        self.window = turn.window or self.window
        if turn.system is not None:
            self.speech = Speech("rule " * turn.system, ())

    async def request(self) -> Prompt | None:
        """Return the next request, once it is held to what must be true of it; None: none is sent."""
        self.requests += 1
        try:
            prompt = await self.context.request(self.speech)
        except ContextError:
            self.refused += 1
            return None
        limit = ContextOptions().limit(self.window)
        assert self.context.tokens(self.speech) <= limit
        assert (
            messages_faults(messages_body(prompt, target_of("anthropic", "x", info=self.info)))
            == []
        )
        asked = len(self.sums.asked)
        assert await self.context.request(self.speech) == prompt, "the same request is another"
        assert len(self.sums.asked) == asked, "compacted again right after a compaction"
        return prompt

    def _call(self) -> ToolCall:
        self._number += 1
        return ToolCall(
            CallId(f"call_{self._number}"), "read", '{"path": "a.py"}', {"path": "a.py"}
        )

    def _answer(self, prompt: Prompt, *parts: Text | Thinking | ToolCall) -> None:
        fixed = fixed_tokens(prompt.system, prompt.tools)
        sent = fixed + sum(map(message_tokens, prompt.messages))
        usage = Usage(input=round(sent * self.factor), output=10 if self.factor else 0)
        calls = any(isinstance(part, ToolCall) for part in parts)
        message = AssistantMessage(parts, "tool_use" if calls else "end_turn", usage, self.info.id)
        self._add(message, **{FIXED: fixed})

    def _add(self, message: Message, **facts: int) -> None:
        self.added += message_tokens(message)
        self.store.append("message", encode_message(message) | facts)


def _text(script: int, tokens: int) -> str:
    piece = SCRIPTS[script % len(SCRIPTS)]
    each = (1.5, 2.5, 2.5, 11.2, 5)[script % len(SCRIPTS)]
    return piece * max(round(tokens / each), 1)


def workday(turns: int, seed: int) -> Iterator[Turn]:
    """Yield the turns of a coding talk: a few rounds of calls each, results of very unlike sizes."""
    chance = random.Random(seed)
    for _ in range(turns):
        rounds = chance.randint(0, 4)
        yield Turn(
            said=chance.randint(10, 200),
            script=chance.choice([0, 0, 0, 3, 4]),
            results=tuple(
                tuple(int(chance.paretovariate(0.7) * 60) for _ in range(chance.randint(1, 3)))
                for _ in range(rounds)
            ),
            answer=chance.randint(20, 400),
        )


def held(talk: LongTalk, turns: Sequence[Turn]) -> LongTalk:
    """Return the talk once it was held."""
    anyio.run(talk.hold, turns)
    return talk
