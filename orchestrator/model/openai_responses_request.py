"""A prompt in the shape of OpenAI Responses; pure."""

from __future__ import annotations

import json
from typing import Any

from orchestrator.model.catalog import Target
from orchestrator.model.client import Prompt
from orchestrator.model.output_budget import output_budget
from orchestrator.model.projection import argument_text, project, valid
from orchestrator.model.shape_fields import shape_fields
from orchestrator.model.thinking import clamp
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolDefinition,
    ToolResult,
    UserMessage,
)

PHASE = "phase:"
"""Marks the signature of a text that came with one: commentary or the final answer."""
_KEY_LENGTH = 64
"""Characters that a cache key may have."""


def request_body(prompt: Prompt, target: Target) -> dict[str, Any]:
    """Return the body of ``POST /responses``, without ``stream``; the provider stores nothing."""
    items: list[dict[str, Any]] = []
    for turn in project(prompt.messages, target.info):
        items.extend(_items(turn))
    body: dict[str, Any] = {
        "model": target.info.name,
        "input": items,
        "store": False,
        "max_output_tokens": output_budget(prompt, target.info),
    }
    if target.reasoning:
        body["include"] = ["reasoning.encrypted_content"]
    if prompt.system.strip():
        body["instructions"] = valid(prompt.system)
    if prompt.tools:
        body["tools"] = [_tool(tool) for tool in prompt.tools]
        if prompt.purpose != "turn":
            body["tool_choice"] = "none"
    return body | _thinking(prompt, target) | _cache(prompt, target) | _shape(prompt)


def _thinking(prompt: Prompt, target: Target) -> dict[str, Any]:
    """Return the fields that ask for a level; none where the model keeps its own default."""
    level = clamp(prompt.thinking, target.info.thinking)
    if level is None:
        return {}
    if level == "off":
        return {"reasoning": {"effort": "none"}}
    return {"reasoning": {"effort": level, "summary": "auto"}}


def _cache(prompt: Prompt, target: Target) -> dict[str, Any]:
    """Return the fields that keep requests with one beginning together."""
    if target.cache == "none":
        return {"prompt_cache_options": {"mode": "explicit"}} if target.cache_options else {}
    fields: dict[str, Any] = {}
    if prompt.cache_key:
        fields["prompt_cache_key"] = prompt.cache_key[:_KEY_LENGTH]
    if target.cache == "long":
        # The newer models keep every prompt for at least half an hour; older ones can for a day.
        longer = {"prompt_cache_options": {"ttl": "30m"}}
        fields |= longer if target.cache_options else {"prompt_cache_retention": "24h"}
    return fields


def _shape(prompt: Prompt) -> dict[str, Any]:
    return shape_fields(prompt.shape, "openai-responses")


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.input_schema),
        # Strict is the default here and would refuse schemas with optional arguments.
        "strict": False,
    }


def _items(message: Message) -> list[dict[str, Any]]:
    if isinstance(message, UserMessage):
        return [{"role": "user", "content": [_shown(part) for part in message.content]}]
    if isinstance(message, AssistantMessage):
        return [item for part in message.content if (item := _said(part)) is not None]
    return [_result(result) for result in message.results]


def _said(part: Text | Thinking | ToolCall) -> dict[str, Any] | None:
    if isinstance(part, Text):
        phase = (part.signature or "").removeprefix(PHASE)
        more = {"phase": phase} if phase in {"commentary", "final_answer"} else {}
        # The type may be left out, but llama.cpp refuses an answer without it.
        return {"type": "message", "role": "assistant", "content": part.text} | more
    if isinstance(part, Thinking):
        return _thought(part)
    return {
        "type": "function_call",
        "call_id": part.id,
        "name": part.name,
        "arguments": argument_text(part),
    }


def _thought(part: Thinking) -> dict[str, Any] | None:
    """Return the reasoning item the provider gave; nothing where it is not one."""
    try:
        item = json.loads(part.signature or "")
    except ValueError:
        return None
    encrypted = isinstance(item, dict) and item.get("encrypted_content")
    return item if encrypted and item.get("type") == "reasoning" else None


def _shown(part: Text | Image) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    address = f"data:{part.media_type};base64,{part.data}"
    return {"type": "input_image", "detail": "auto", "image_url": address}


def _result(result: ToolResult) -> dict[str, Any]:
    output: Any = result.output
    if result.images:
        output = [_shown(image) for image in result.images]
        if result.output.strip():
            output.insert(0, _shown(Text(result.output)))
    return {"type": "function_call_output", "call_id": result.call, "output": output}
