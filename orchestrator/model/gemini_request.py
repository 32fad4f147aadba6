"""A prompt in the shape of Gemini's ``generateContent``; pure."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any

from orchestrator.model.catalog import Target
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.model.gemini_schema import told_by_enum
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
    ToolCall,
    ToolDefinition,
    ToolResult,
    UserMessage,
)

FIRST = "(the conversation goes on)"
SEEN = "(see the picture)"
UNSIGNED = b"skip_thought_signature_validator"
"""The vendor's own word for a call that another model made: nothing signed it."""
_NEW = 3
"""From this major version on calls have ids, signatures are demanded, and results hold pictures."""
_LEAST_BUDGET = 128
_MOST_BUDGET = 24_576


def request_body(prompt: Prompt, target: Target) -> dict[str, Any]:
    """Return ``model``, ``contents`` and ``config`` as the SDK takes them."""
    turns = project(prompt.messages, target.info)
    new = is_new(target.info)
    contents = _alternating(turns, new=new)
    if new:
        _sign(contents)
    return {"model": target.info.name, "contents": contents, "config": _config(prompt, target)}


def _alternating(turns: Sequence[Message], *, new: bool) -> list[dict[str, Any]]:
    """Return the turns beginning with the user's, each of them followed by one of the other side.

    The API wants a turn with calls right after one of the user, so two of a side become one.
    """
    contents: list[dict[str, Any]] = []
    for turn in turns:
        role, parts = _role_and_parts(turn, new=new)
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"].extend(parts)
        else:
            contents.append({"role": role, "parts": parts})
    if not contents or contents[0]["role"] != "user":
        contents.insert(0, {"role": "user", "parts": [{"text": FIRST}]})
    return contents


def is_new(info: ModelInfo) -> bool:
    """Say whether a model is of version 3 or later; one that names no version is taken for new."""
    found = re.match(r"gemini-(?:[a-z]+-)*(\d+)", info.name)
    return found is None or int(found[1]) >= _NEW


def _config(prompt: Prompt, target: Target) -> dict[str, Any]:
    config: dict[str, Any] = {
        "max_output_tokens": output_budget(prompt, target.info),
        # Tools run in the box and turns are counted here: the SDK does neither by itself.
        "automatic_function_calling": {"disable": True},
        "automatic_continuation": False,
    }
    if prompt.system.strip():
        config["system_instruction"] = valid(prompt.system)
    shape = shape_fields(prompt.shape, "gemini")
    # Before version 3 a form and tools exclude each other.
    if prompt.tools and (not shape or is_new(target.info)):
        config["tools"] = [{"function_declarations": [_tool(tool) for tool in prompt.tools]}]
        if prompt.purpose != "turn":
            config["tool_config"] = {"function_calling_config": {"mode": "NONE"}}
    return config | _thinking(prompt, target) | shape


def _thinking(prompt: Prompt, target: Target) -> dict[str, Any]:
    """Return the fields that ask for a level; none where the model keeps its own default."""
    level = clamp(prompt.thinking, target.info.thinking)
    if level is None:
        return {}
    if target.thinking_by == "effort":
        # Its words end before ours do.
        word = {"off": "MINIMAL", "max": "XHIGH"}.get(level, level.upper())
        return {"thinking_config": {"thinking_level": word, "include_thoughts": True}}
    if level == "off":
        return {"thinking_config": {"thinking_budget": 0}}
    budget = max(_LEAST_BUDGET, min(BUDGETS[level], _MOST_BUDGET))
    return {"thinking_config": {"thinking_budget": budget, "include_thoughts": True}}


def _tool(tool: ToolDefinition) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters_json_schema": told_by_enum(tool.input_schema),
    }


def _role_and_parts(message: Message, *, new: bool) -> tuple[str, list[dict[str, Any]]]:
    if isinstance(message, UserMessage):
        return "user", [_shown(part) for part in message.content]
    if isinstance(message, AssistantMessage):
        return "model", [_said(part, new=new) for part in message.content]
    # A result of an older model is text alone: pictures follow all of them.
    pictures = [] if new else [image for result in message.results for image in result.images]
    results = [_result(result, new=new) for result in message.results]
    return "user", [*results, *(_shown(image) for image in pictures)]


def _shown(part: Text | Image) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"text": part.text}
    data = base64.b64decode(part.data)
    return {"inline_data": {"mime_type": part.media_type, "data": data}}


def _said(part: Text | Thinking | ToolCall, *, new: bool) -> dict[str, Any]:
    if isinstance(part, ToolCall):
        call: dict[str, Any] = {"name": part.name, "args": argument_object(part)}
        return {"function_call": call | ({"id": part.id} if new else {})} | _signed(part.signature)
    thought = {"thought": True} if isinstance(part, Thinking) else {}
    return {"text": part.text} | thought | _signed(part.signature)


def _signed(signature: str | None) -> dict[str, bytes]:
    """Return the mark as bytes; nothing where it is not one of Gemini's."""
    try:
        data = base64.b64decode(signature or "", validate=True)
    except (binascii.Error, ValueError):
        return {}
    return {"thought_signature": data} if data else {}


def _result(result: ToolResult, *, new: bool) -> dict[str, Any]:
    output = result.output if result.output.strip() or not result.images else SEEN
    answer: dict[str, Any] = {
        "name": result.name,
        "response": {"error" if result.is_error else "output": output},
    }
    if new:
        answer["id"] = result.call
        if result.images:
            answer["parts"] = [_shown(image) for image in result.images]
    return {"function_response": answer}


def _sign(contents: Sequence[dict[str, Any]]) -> None:
    """Mark the first call of each turn that nothing signed: without a mark it is refused."""
    for content in contents:
        calls = [part for part in content["parts"] if "function_call" in part]
        if calls and not any("thought_signature" in part for part in calls):
            calls[0]["thought_signature"] = UNSIGNED
