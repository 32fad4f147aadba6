"""A prompt in the shape of Anthropic Messages; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.model.catalog import Target
from orchestrator.model.client import Prompt
from orchestrator.model.output_budget import output_budget
from orchestrator.model.projection import argument_object, project, valid
from orchestrator.model.shape_fields import shape_fields
from orchestrator.model.thinking import BUDGETS, clamp
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)

REDACTED = "redacted:"
"""Marks the signature of a thought that came encrypted as a whole."""
FIRST = "(the conversation goes on)"
_LEAST_BUDGET = 1_024
"""The API takes no smaller one, and an answer after it needs as much room again."""


def request_body(prompt: Prompt, target: Target) -> dict[str, Any]:
    """Return the body of ``POST /v1/messages``, without ``stream``."""
    turns = project(prompt.messages, target.info)
    messages = [_message(turn) for turn in turns]
    if not messages or messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": [{"type": "text", "text": FIRST}]})
    body: dict[str, Any] = {
        "model": target.info.name,
        "max_tokens": output_budget(prompt, target.info),
        "messages": messages,
    }
    if prompt.system.strip():
        body["system"] = [{"type": "text", "text": valid(prompt.system)}]
    tools = prompt.tools or _tools_of_history(turns)
    if tools:
        body["tools"] = [_tool(tool) for tool in tools]
        if prompt.purpose != "turn" or not prompt.tools:
            body["tool_choice"] = {"type": "none"}
    body |= _thinking(prompt, target, body)
    shape = shape_fields(prompt.shape, "anthropic").get("output_config", {})
    if shape:
        body["output_config"] = body.get("output_config", {}) | shape
    _mark_cache(body, target)
    return body


def _thinking(prompt: Prompt, target: Target, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that ask for a level; none where the model keeps its own default."""
    level = clamp(prompt.thinking, target.info.thinking)
    if level is None:
        return {}
    if level == "off":
        return {"thinking": {"type": "disabled"}}
    if target.thinking_by == "effort":
        effort = "low" if level == "minimal" else level
        thinking = {"type": "adaptive", "display": "summarized"}
        return {"thinking": thinking, "output_config": {"effort": effort}}
    budget = min(BUDGETS[level], body["max_tokens"] - _LEAST_BUDGET)
    if budget < _LEAST_BUDGET or _begun_without_thought(body["messages"]):
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _begun_without_thought(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Say whether calls are being answered in a turn that no thought of this model began.

    With a budget the API wants one before the first of the turn's calls, and refuses a turn that
    another model began.
    """
    begun: Mapping[str, Any] | None = None
    for message in reversed(messages):
        if message["role"] == "assistant":
            begun = message
        elif message["content"][0]["type"] != "tool_result":
            break
    if begun is None or messages[-1]["content"][0]["type"] != "tool_result":
        return False
    return begun["content"][0]["type"] not in {"thinking", "redacted_thinking"}


def _mark_cache(body: dict[str, Any], target: Target) -> None:
    """Mark what stays the same, and the ends of the last two user messages.

    What was sent before is read from the cache, and this request is written to it.
    """
    if target.cache == "none":
        return
    mark = {"type": "ephemeral"} | ({"ttl": "1h"} if target.cache == "long" else {})
    stable = body.get("system") or body.get("tools")
    if stable:
        stable[-1]["cache_control"] = mark
    users = [message for message in body["messages"] if message["role"] == "user"]
    for message in users[-2:]:
        message["content"][-1]["cache_control"] = mark


def _tools_of_history(turns: Sequence[Message]) -> tuple[ToolDefinition, ...]:
    """The API wants a definition for each tool that occurs, even where none may be called."""
    names = {
        call.name: None
        for turn in turns
        if isinstance(turn, AssistantMessage)
        for call in turn.tool_calls
    }
    return tuple(ToolDefinition(name, "", {"type": "object"}) for name in names)


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    shape = {"name": tool.name, "input_schema": dict(tool.input_schema)}
    return shape | ({"description": tool.description} if tool.description else {})


def _message(message: Message) -> dict[str, Any]:
    if isinstance(message, UserMessage):
        return {"role": "user", "content": [_shown(part) for part in message.content]}
    if isinstance(message, ToolMessage):
        return {"role": "user", "content": [_result(result) for result in message.results]}
    return {"role": "assistant", "content": [_said(part) for part in message.content]}


def _said(part: Any) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Thinking):
        signature = part.signature or ""
        if signature.startswith(REDACTED):
            return {"type": "redacted_thinking", "data": signature.removeprefix(REDACTED)}
        return {"type": "thinking", "thinking": part.text, "signature": signature}
    return {"type": "tool_use", "id": part.id, "name": part.name, "input": argument_object(part)}


def _shown(part: Text | Image) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    source = {"type": "base64", "media_type": part.media_type, "data": part.data}
    return {"type": "image", "source": source}


def _result(result: ToolResult) -> dict[str, Any]:
    content: Any = result.output
    if result.images:
        content = [_shown(image) for image in result.images]
        if result.output.strip():
            content.insert(0, _shown(Text(result.output)))
    shape = {"type": "tool_result", "tool_use_id": result.call, "content": content}
    return shape | ({"is_error": True} if result.is_error else {})
