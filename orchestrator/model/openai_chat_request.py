"""A prompt in the shape of OpenAI Chat Completions; pure."""

from __future__ import annotations

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
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)

REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where imitators put thoughts; the field's name is kept as the thought's signature."""


def request_body(prompt: Prompt, target: Target) -> dict[str, Any]:
    """Return the body of ``POST /chat/completions``, without ``stream``."""
    messages: list[dict[str, Any]] = []
    if prompt.system.strip():
        messages.append({"role": "system", "content": valid(prompt.system)})
    for turn in project(prompt.messages, target.info):
        messages.extend(_messages(turn))
    body: dict[str, Any] = {
        "model": target.info.name,
        "messages": messages,
        "stream_options": {"include_usage": True},
        target.max_tokens_field: output_budget(prompt, target.info),
    }
    if prompt.tools:
        body["tools"] = [_tool(tool) for tool in prompt.tools]
        if prompt.purpose != "turn":
            body["tool_choice"] = "none"
    return body


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.input_schema),
    }
    return {"type": "function", "function": function}


def _messages(message: Message) -> list[dict[str, Any]]:
    if isinstance(message, UserMessage):
        return [{"role": "user", "content": _user_content(message)}]
    if isinstance(message, AssistantMessage):
        return [_assistant(message)]
    return _tool_messages(message)


def _user_content(message: UserMessage) -> str | list[dict[str, Any]]:
    """Plain text where it is only text: some servers know no parts."""
    if all(isinstance(part, Text) for part in message.content):
        return "\n\n".join(part.text for part in message.content if isinstance(part, Text))
    return [
        {"type": "text", "text": part.text} if isinstance(part, Text) else _picture(part)
        for part in message.content
    ]


def _picture(image: Image) -> dict[str, Any]:
    address = f"data:{image.media_type};base64,{image.data}"
    return {"type": "image_url", "image_url": {"url": address}}


def _assistant(message: AssistantMessage) -> dict[str, Any]:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": argument_text(call)},
        }
        for call in message.tool_calls
    ]
    shape: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if calls:
        shape["tool_calls"] = calls
        # The vendors that want thoughts back want them beside calls, and some refuse them elsewhere.
        for part in message.content:
            if isinstance(part, Thinking) and part.signature in REASONING_FIELDS:
                shape[part.signature] = shape.get(part.signature, "") + part.text
    return shape


def _tool_messages(message: ToolMessage) -> list[dict[str, Any]]:
    """Tool messages hold text alone; pictures follow in the user's name, after all results."""
    shapes: list[dict[str, Any]] = [_result(result) for result in message.results]
    pictures: list[dict[str, Any]] = []
    for result in message.results:
        if result.images:
            pictures.append({"type": "text", "text": f"The picture from {result.name}:"})
            pictures.extend(_picture(image) for image in result.images)
    if pictures:
        shapes.append({"role": "user", "content": pictures})
    return shapes


def _result(result: ToolResult) -> dict[str, Any]:
    text = result.output if result.output.strip() else "(a picture follows)"
    return {"role": "tool", "tool_call_id": result.call, "content": text}
