"""Can an entry be worked with? One that cannot would fail every later request, or each look at it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

from orchestrator.schema.codec import decode_message
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from orchestrator.schema.picture_data import PICTURE_TYPES, is_base64
from orchestrator.sessions.entry import Entry

_LINKS = ("target", "first_kept", "from")
"""Fields that name another entry, in whatever entry they stand."""
_LISTS = ("waiting", "taken_up")


def is_usable(entry: Entry) -> bool:
    """Say whether an entry has what its type is about, each of the right kind."""
    body = entry.body
    if entry.type == "message":
        return _can_be_told(body)
    if not all(body.get(name) is None or isinstance(body[name], str) for name in _LINKS):
        return False
    match entry.type:
        case "leaf":
            return "target" in body
        case "label":
            return isinstance(body.get("target"), str)
        case "context_edit":
            told = body.get("replacement")
            return isinstance(body.get("target"), str) and (told is None or _can_be_told(told))
        case "compaction" | "branch_summary":
            # Without its words nobody would know what it stands for.
            return isinstance(body.get("summary"), str)
        case "approval":
            return all(isinstance(body.get(name, []), list | None) for name in _LISTS)
    return True


def _can_be_told(body: Mapping[str, Any]) -> bool:
    try:
        return _is_whole(decode_message(body))
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def _is_whole(message: Message) -> bool:
    """Say whether every field has its type, which decoding takes on trust."""
    if isinstance(message, AssistantMessage):
        usage = message.usage
        counts = astuple(usage)
        texts = (message.model, message.stop_reason, message.stop_word)
        return (
            all(type(count) is int for count in counts)
            and all(isinstance(text, str) for text in texts)
            and all(map(_is_whole_part, message.content))
        )
    if isinstance(message, UserMessage):
        return all(map(_is_whole_part, message.content))
    return all(map(_is_whole_part, message.results))


def _is_whole_part(part: Text | Image | Thinking | ToolCall | ToolResult) -> bool:
    match part:
        case Text(text, signature):
            texts: tuple[object, ...] = (text, signature or "")
        case Image(media_type, data):
            return media_type in PICTURE_TYPES and len(data) % 4 == 0 and is_base64(data)
        case Thinking(text, provider, signature):
            texts = (text, provider, signature or "")
        case ToolCall(call_id, name, raw, _, signature):
            texts = (call_id, name, raw, signature or "")
        case ToolResult(call_id, name, output, _, images):
            texts = (call_id, name, output)
            if not all(map(_is_whole_part, images)):
                return False
    return all(isinstance(text, str) for text in texts)
