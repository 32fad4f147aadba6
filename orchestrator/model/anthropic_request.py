"""A prompt in the shape of Anthropic Messages; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.model.output_budget import output_budget
from orchestrator.model.projection import argument_object, project, valid
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
_CACHE = {"type": "ephemeral"}


def request_body(prompt: Prompt, info: ModelInfo) -> dict[str, Any]:
    """Return the body of ``POST /v1/messages``, without ``stream``."""
    turns = project(prompt.messages, info)
    messages = [_message(turn) for turn in turns]
    if not messages or messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": [{"type": "text", "text": FIRST}]})
    _mark_cache(messages)
    body: dict[str, Any] = {
        "model": info.name,
        "max_tokens": output_budget(prompt, info),
        "messages": messages,
    }
    if prompt.system.strip():
        system = {"type": "text", "text": valid(prompt.system), "cache_control": _CACHE}
        body["system"] = [system]
    tools = prompt.tools or _tools_of_history(turns)
    if tools:
        body["tools"] = [_tool(tool) for tool in tools]
        if prompt.purpose != "turn" or not prompt.tools:
            body["tool_choice"] = {"type": "none"}
    return body


def _mark_cache(messages: list[dict[str, Any]]) -> None:
    """Mark the ends of the last two user messages: what was sent before is read from the cache."""
    users = [message for message in messages if message["role"] == "user"]
    for message in users[-2:]:
        message["content"][-1]["cache_control"] = _CACHE


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
