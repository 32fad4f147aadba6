"""A prompt in the shape of OpenAI Chat Completions, in the dialect of its server; pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orchestrator.model.call_ids import nine_id
from orchestrator.model.catalog import Target
from orchestrator.model.client import Prompt
from orchestrator.model.dialect import Dialect
from orchestrator.model.openai_chat_thinking import thinking_fields
from orchestrator.model.output_budget import output_budget
from orchestrator.model.projection import argument_text, project, valid
from orchestrator.model.shape_fields import shape_fields
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)

REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
"""Where imitators put thoughts; the field's name is kept as the thought's signature."""
UNDERSTOOD = "(noted)"
_CACHE = {"type": "ephemeral"}


def request_body(prompt: Prompt, target: Target) -> dict[str, Any]:
    """Return the body of ``POST /chat/completions``, without ``stream``."""
    dialect = target.dialect
    messages: list[dict[str, Any]] = []
    if prompt.system.strip():
        role = "developer" if dialect.developer_role else "system"
        messages.append({"role": role, "content": valid(prompt.system)})
    for turn in _with_ids(project(prompt.messages, target.info), dialect):
        messages.extend(_messages(turn, dialect))
    if dialect.answer_after_results:
        messages = _with_answers(messages)
    body: dict[str, Any] = {
        "model": target.info.name,
        "messages": messages,
        dialect.max_tokens_field: output_budget(prompt, target.info),
    }
    if prompt.tools:
        body["tools"] = [_tool(tool, dialect) for tool in prompt.tools]
        if prompt.purpose != "turn":
            body["tool_choice"] = "none"
    if dialect.cache_markers and target.cache != "none":
        _mark_cache(messages, target.info.name)
    fields = thinking_fields(prompt.thinking, target) | shape_fields(prompt.shape, "openai-chat")
    return body | _extras(prompt, target) | fields


def _extras(prompt: Prompt, target: Target) -> dict[str, Any]:
    """Return what only some servers take."""
    dialect = target.dialect
    found: dict[str, Any] = {}
    if dialect.stream_usage:
        found["stream_options"] = {"include_usage": True}
    if dialect.store:
        found["store"] = False
    if dialect.cache_key and prompt.cache_key and target.cache != "none":
        found["prompt_cache_key"] = prompt.cache_key
    return found


def _with_ids(turns: tuple[Message, ...], dialect: Dialect) -> tuple[Message, ...]:
    """Return the turns with call ids in the server's own form; each result keeps its call's."""
    if dialect.ids == "portable":
        return turns
    given: dict[CallId, CallId] = {}

    def fresh(call: CallId) -> CallId:
        return given.setdefault(call, nine_id(call, given.values()))

    def changed(message: Message) -> Message:
        if isinstance(message, AssistantMessage):
            parts = tuple(
                replace(part, id=fresh(part.id)) if isinstance(part, ToolCall) else part
                for part in message.content
            )
            return replace(message, content=parts)
        if isinstance(message, ToolMessage):
            return ToolMessage(tuple(replace(r, call=fresh(r.call)) for r in message.results))
        return message

    return tuple(changed(turn) for turn in turns)


def _with_answers(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put a word of the model's between results and what a person said next."""
    found: list[dict[str, Any]] = []
    for message in messages:
        if found and found[-1]["role"] == "tool" and message["role"] == "user":
            found.append({"role": "assistant", "content": UNDERSTOOD})
        found.append(message)
    return found


def _mark_cache(messages: list[dict[str, Any]], model: str) -> None:
    """Mark the system prompt and the last two things said, as Anthropic's models want it."""
    if not model.startswith("anthropic/"):
        return
    marked = [m for m in messages if m["role"] in {"system", "developer"}]
    marked += [m for m in messages if m["role"] == "user"][-2:]
    for message in marked:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        message["content"] = [*parts[:-1], {**parts[-1], "cache_control": _CACHE}]


def _tool(tool: ToolDefinition, dialect: Dialect) -> dict[str, Any]:
    function: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.input_schema),
    }
    if dialect.strict:
        function["strict"] = False
    return {"type": "function", "function": function}


def _messages(message: Message, dialect: Dialect) -> list[dict[str, Any]]:
    if isinstance(message, UserMessage):
        return [{"role": "user", "content": _user_content(message)}]
    if isinstance(message, AssistantMessage):
        return [_assistant(message, dialect)]
    return _tool_messages(message, dialect)


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


def _assistant(message: AssistantMessage, dialect: Dialect) -> dict[str, Any]:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": argument_text(call)},
        }
        for call in message.tool_calls
    ]
    nothing = "" if dialect.content_with_calls else None
    shape: dict[str, Any] = {"role": "assistant", "content": message.text or nothing}
    if calls:
        shape["tool_calls"] = calls
    if dialect.reasoning_back == "always" or (calls and dialect.reasoning_back == "calls"):
        # The vendors that want thoughts back want them under the name that they gave them.
        for part in message.content:
            if isinstance(part, Thinking) and part.signature in REASONING_FIELDS:
                shape[part.signature] = shape.get(part.signature, "") + part.text
    if dialect.reasoning_back == "always":
        shape.setdefault("reasoning_content", "")
    return shape


def _tool_messages(message: ToolMessage, dialect: Dialect) -> list[dict[str, Any]]:
    """Tool messages hold text alone; pictures follow in the user's name, after all results."""
    shapes: list[dict[str, Any]] = [_result(result, dialect) for result in message.results]
    pictures: list[dict[str, Any]] = []
    for result in message.results:
        if result.images:
            pictures.append({"type": "text", "text": f"The picture from {result.name}:"})
            pictures.extend(_picture(image) for image in result.images)
    if pictures:
        shapes.append({"role": "user", "content": pictures})
    return shapes


def _result(result: ToolResult, dialect: Dialect) -> dict[str, Any]:
    text = result.output if result.output.strip() else "(a picture follows)"
    shape = {"role": "tool", "tool_call_id": result.call, "content": text}
    return shape | ({"name": result.name} if dialect.tool_result_name else {})
