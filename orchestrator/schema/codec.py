"""The JSON form of messages, as session files, audit records and events hold it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)

MAX_DEPTH = 64
"""Arguments nested deeper than this overflow the stack of one reader or another."""


def parse_arguments(raw: str) -> Mapping[str, Any] | None:
    """Return the JSON object in ``raw``; an empty text is an empty object, all else None.

    An object nested deeper than ``MAX_DEPTH`` is none either: whoever walks it would fail.
    """
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    # What opens fewer objects and lists than that cannot be nested deeper.
    if raw.count("{") + raw.count("[") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        return None
    return cast("dict[str, Any]", value)


def encode_message(message: Message) -> dict[str, Any]:
    """Return the message as JSON data."""
    if isinstance(message, UserMessage):
        return {"role": "user", "content": [_encode_part(part) for part in message.content]}
    if isinstance(message, AssistantMessage):
        return {
            "role": "assistant",
            "content": [_encode_part(part) for part in message.content],
            "stop_reason": message.stop_reason,
            "usage": encode_usage(message.usage),
            "model": message.model,
        } | ({"stop_word": message.stop_word} if message.stop_word else {})
    return {"role": "tool", "results": [_encode_result(result) for result in message.results]}


def decode_message(data: Mapping[str, Any]) -> Message:
    """Return the message in ``data``; raises ValueError or KeyError when it is none."""
    role = data["role"]
    if role == "user":
        parts = tuple(_decode_part(part) for part in data["content"])
        return UserMessage(tuple(part for part in parts if isinstance(part, Text | Image)))
    if role == "assistant":
        parts = tuple(_decode_part(part) for part in data["content"])
        return AssistantMessage(
            content=tuple(p for p in parts if isinstance(p, Text | Thinking | ToolCall)),
            stop_reason=cast("StopReason", data["stop_reason"]),
            usage=Usage(**data.get("usage", {})),
            model=data.get("model", ""),
            stop_word=data.get("stop_word", ""),
        )
    if role == "tool":
        return ToolMessage(tuple(_decode_result(result) for result in data["results"]))
    raise ValueError(f"message role: expected user, assistant or tool, got {role!r}")


def encode_usage(usage: Usage) -> dict[str, int]:
    """Return the four counts by name, and how many tokens of them are estimated if any are."""
    counts = {
        "input": usage.input,
        "output": usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
    }
    return counts | ({"estimated": usage.estimated} if usage.estimated else {})


def _is_deeper(value: object, depth: int) -> bool:
    """Say whether JSON data is nested deeper than ``depth``, without recursion."""
    level = [value]
    for _ in range(depth):
        level = [
            item
            for holder in level
            if isinstance(holder, dict | list)
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
    return any(isinstance(item, dict | list) for item in level)


def _encode_part(part: Text | Image | Thinking | ToolCall) -> dict[str, Any]:
    match part:
        case Text(text, signature):
            return {"type": "text", "text": text} | _marked(signature)
        case Image(media_type, data):
            return {"type": "image", "media_type": media_type, "data": data}
        case Thinking(text, provider, signature):
            return {
                "type": "thinking",
                "text": text,
                "provider": provider,
                "signature": signature,
            }
        case ToolCall(call_id, name, raw_arguments, _, signature):
            shape = {"type": "tool_call", "id": call_id, "name": name, "arguments": raw_arguments}
            return shape | _marked(signature)


def _marked(signature: str | None) -> dict[str, Any]:
    return {} if signature is None else {"signature": signature}


def _decode_part(data: Mapping[str, Any]) -> Text | Image | Thinking | ToolCall:
    match data["type"]:
        case "text":
            return Text(data["text"], data.get("signature"))
        case "image":
            return Image(data["media_type"], data["data"])
        case "thinking":
            return Thinking(data["text"], data["provider"], data.get("signature"))
        case "tool_call":
            raw = data["arguments"]
            call_id, signature = CallId(data["id"]), data.get("signature")
            return ToolCall(call_id, data["name"], raw, parse_arguments(raw), signature)
        case other:
            raise ValueError(f"message part: unknown type {other!r}")


def _encode_result(result: ToolResult) -> dict[str, Any]:
    return {
        "call": result.call,
        "name": result.name,
        "output": result.output,
        "is_error": result.is_error,
        "images": [_encode_part(image) for image in result.images],
    }


def _decode_result(data: Mapping[str, Any]) -> ToolResult:
    images = tuple(Image(item["media_type"], item["data"]) for item in data.get("images", ()))
    return ToolResult(
        CallId(data["call"]), data["name"], data["output"], bool(data["is_error"]), images
    )
