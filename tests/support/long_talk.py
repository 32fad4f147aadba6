"""A conversation of many turns, request by request, as each API gets it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio

from orchestrator.context.speech import Speech
from orchestrator.model.anthropic_request import request_body as messages_body
from orchestrator.model.catalog import Target
from orchestrator.model.client import ModelInfo
from orchestrator.model.dialect import dialect_of
from orchestrator.model.gemini_request import request_body as gemini_body
from orchestrator.model.openai_chat_request import request_body as chat_body
from orchestrator.model.openai_responses_request import request_body as responses_body
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import CallId, SessionId
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.store import SessionStore
from tests.support.contexts import Sums, context_of
from tests.support.model_contract import target_of
from tests.support.model_history import PIXEL, REASONING

BODIES = {
    "anthropic": messages_body,
    "openai-chat": chat_body,
    "openai-responses": responses_body,
    "gemini": gemini_body,
}
SIGNATURES = {
    "anthropic": "c2lnbmVk",
    "openai-chat": "reasoning_content",
    "openai-responses": REASONING,
    "gemini": None,
}
"""Of the model's thoughts, in the form of each API."""
_MARKS = frozenset({"cache_control"})
"""Say where a cache may end, and are no part of what is cached."""


def requests(
    api: str, speech: Speech, folder: Path, *, turns: int = 30, size: int = 400
) -> Iterator[str]:
    """Yield each request as text: its fixed parts first, then what was said, oldest first."""
    target = _target(api)
    header = SessionHeader(SessionId("0123456789ab"), "/p", "2026-01-01T00:00:00Z")
    with SessionStore.create(folder / "s.jsonl", header) as store:
        context = context_of(store, Sums(), window=200_000)
        for turn in range(turns):
            for message in _turn(turn, api, size):
                store.append("message", encode_message(message))
                if isinstance(message, UserMessage | ToolMessage):
                    yield in_order(BODIES[api](anyio.run(context.request, speech), target))


def in_order(body: dict[str, Any]) -> str:
    """Return a body in the order in which providers cache it: tools, system, conversation."""
    said = next(name for name in ("messages", "input", "contents") if name in body)
    fixed = {name: value for name, value in body.items() if name not in {said, "max_tokens"}}
    for name in ("max_completion_tokens", "max_output_tokens"):
        fixed.pop(name, None)
    if isinstance(fixed.get("config"), dict):
        fixed["config"] = {k: v for k, v in fixed["config"].items() if k != "max_output_tokens"}
    parts = [_text(fixed), *(_text(item) for item in body[said])]
    return "\n".join(parts)


def _text(value: Any) -> str:
    return json.dumps(_unmarked(value), sort_keys=True, default=repr)


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _unmarked(v) for k, v in value.items() if k not in _MARKS}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _target(api: str) -> Target:
    info = ModelInfo("contract", "mock-model", 200_000, 8_192)
    more: dict[str, Any] = {"reasoning": True} if api == "openai-responses" else {}
    if api == "openai-chat":
        more["dialect"] = dialect_of("openai", "http://127.0.0.1")
    return target_of(api, "http://127.0.0.1:1", info=info, **more)  # type: ignore[arg-type]


def _turn(turn: int, api: str, size: int) -> Iterator[Message]:
    """Yield what is said, two calls side by side, their results, and every fifth turn a picture."""
    yield UserMessage((Text(f"question {turn} " + "q" * size),))
    calls = tuple(
        ToolCall(
            CallId(f"call_{turn}_{n}"), "bash", f'{{"command": "ls {n}"}}', {"command": f"ls {n}"}
        )
        for n in range(2)
    )
    thought = Thinking(f"hm {turn}", "contract", SIGNATURES[api])
    yield AssistantMessage(
        (thought, Text("I look"), *calls), "tool_use", model="contract/mock-model"
    )
    pictures = (Image("image/png", PIXEL),) if turn % 5 == 4 else ()
    first = ToolResult(calls[0].id, "bash", f"out {turn} " + "o" * size, images=pictures)
    yield ToolMessage((first, ToolResult(calls[1].id, "bash", "no such file", is_error=True)))
    yield AssistantMessage((Text(f"answer {turn}"),), "end_turn", model="contract/mock-model")


def speech_of(tools: tuple[ToolDefinition, ...], system: str = "be good") -> Speech:
    """Return what each request carries besides."""
    return Speech(system, tools)
