"""A conversation in which everything happened that can happen to one."""

from __future__ import annotations

import json

from orchestrator.schema.codec import parse_arguments
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
    UserMessage,
)

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
REASONING = json.dumps(
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "b3BhcXVl"}
)


def call(call_id: str, raw: str = '{"command": "ls"}', name: str = "bash") -> ToolCall:
    return ToolCall(CallId(call_id), name, raw, parse_arguments(raw))


def result(call_id: str, output: str = "ok", *images: Image) -> ToolResult:
    return ToolResult(CallId(call_id), "bash", output, images=images)


def said(*parts: Text | Thinking | ToolCall, stop: str = "tool_use") -> AssistantMessage:
    return AssistantMessage(tuple(parts), stop)  # type: ignore[arg-type]


def asked(*parts: str | Image) -> UserMessage:
    return UserMessage(tuple(Text(part) if isinstance(part, str) else part for part in parts))


def damaged_history(provider: str) -> tuple[Message, ...]:
    """Return turns with orphans, twins, foreign ids and thoughts, broken text and pictures."""
    picture = Image("image/png", PIXEL)
    return (
        asked("look at this", picture, "   "),
        said(
            Thinking("own thought", provider, REASONING),
            Thinking("foreign thought", "somebody", "c2lnbmF0dXJl"),
            Text("  "),
            Text("half a pair: \ud83d"),
            call("call_a|fc_b" + "x" * 440),
            call("twin"),
            call("twin", '{"command": "pwd"}'),
        ),
        ToolMessage(
            (
                result("twin", ""),
                result("never-called", "lost"),
                result("call_a|fc_b" + "x" * 440, "a picture", picture),
                result("twin", "/workspace"),
            )
        ),
        said(call("cut", '{"command": "l'), call("empty", ""), stop="max_tokens"),
        asked("go on"),
        said(Thinking("only a thought", provider, REASONING), stop="end_turn"),
        asked("and?"),
        said(call("twin", '{"command": NaN}'), stop="aborted"),
        asked(""),
    )
