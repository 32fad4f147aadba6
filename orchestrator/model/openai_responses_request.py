"""A prompt in the shape of OpenAI Responses; pure."""

from __future__ import annotations

import json
from typing import Any

from orchestrator.model.catalog import Target
from orchestrator.model.client import Prompt
from orchestrator.model.output_budget import output_budget
from orchestrator.model.projection import argument_text, project, valid
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
    return body


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
        return {"role": "assistant", "content": part.text}
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
