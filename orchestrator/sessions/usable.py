"""Can the model be told of an entry? What cannot would fail every later request. Pure."""

from __future__ import annotations

from dataclasses import astuple

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
from orchestrator.sessions.entry import Entry


def is_usable(entry: Entry) -> bool:
    """Say whether a message, or an edit's replacement of one, can be told; others always can."""
    told = entry.body if entry.type == "message" else entry.body.get("replacement")
    if told is None or entry.type not in {"message", "context_edit"}:
        return True
    try:
        return _is_whole(decode_message(told))
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def _is_whole(message: Message) -> bool:
    """Say whether every field has its type, which decoding takes on trust."""
    if isinstance(message, AssistantMessage):
        usage = message.usage
        counts = astuple(usage)
        texts = (message.model, message.stop_reason)
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
            texts = (media_type, data)
        case Thinking(text, provider, signature):
            texts = (text, provider, signature or "")
        case ToolCall(call_id, name, raw, _, signature):
            texts = (call_id, name, raw, signature or "")
        case ToolResult(call_id, name, output, _, images):
            texts = (call_id, name, output)
            if not all(map(_is_whole_part, images)):
                return False
    return all(isinstance(text, str) for text in texts)
