"""A stored conversation as any provider will accept it, whatever happened to it before.

Every call is answered once and directly after its turn; ids are portable and unique; no block is
empty; all text is valid Unicode. Nothing stored is changed: a session cannot be bricked by what an
older turn, another provider or a crash left in it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.model.call_ids import portable_id, portable_name, unused_id
from orchestrator.model.client import ModelInfo
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)

NO_RESULT = "no result was recorded: the call was interrupted and may have run in part"
NO_OUTPUT = "(no output)"
NO_TEXT = "(empty message)"
MOST_PICTURES = 20
"""In one request: with more, Anthropic takes only small ones, and others none at all."""
PICTURES_AT_ONCE = 10
"""So many are left out together, so that not every new one changes the request's beginning."""
UNSEEN = "[a picture, which this model cannot see]"
LEFT_OUT = "[a picture, left out: a failed call can show none]"
OLD = "[an older picture, left out of this request]"
MAX_DEPTH = 64
"""Arguments nested deeper than this overflow the stack of one server or client or another."""


@dataclass(slots=True)
class _Waiting:
    """A stored result and whether a call has claimed it."""

    position: int
    result: ToolResult
    used: bool = False


def project(messages: Sequence[Message], info: ModelInfo) -> tuple[Message, ...]:
    """Return the conversation mended for a request to the model ``info``."""
    messages = fewer_pictures(messages, info)
    waiting: defaultdict[CallId, list[_Waiting]] = defaultdict(list)
    for position, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            for result in message.results:
                waiting[result.call].append(_Waiting(position, result))
    taken: set[CallId] = set()
    out: list[Message] = []
    for position, message in enumerate(messages):
        if isinstance(message, UserMessage):
            out.append(_user(message))
        elif isinstance(message, AssistantMessage):
            out.extend(_turn(position, message, waiting, taken=taken, info=info))
    return tuple(out)


def fewer_pictures(messages: Sequence[Message], info: ModelInfo) -> Sequence[Message]:
    """Return the messages with a word in the place of pictures that the model is not sent."""
    count = sum(count_pictures(message) for message in messages)
    if not count:
        return messages
    excess = count - MOST_PICTURES
    left_out = (
        count if not info.images else max(0, -(-excess // PICTURES_AT_ONCE)) * PICTURES_AT_ONCE
    )
    word = OLD if info.images else UNSEEN
    found: list[Message] = []
    for message in messages:
        here = count_pictures(message)
        drop = min(here, left_out)
        left_out -= drop
        found.append(without_pictures(message, drop, word) if drop else message)
    return found


def count_pictures(message: Message) -> int:
    """Return how many pictures a message shows."""
    if isinstance(message, UserMessage):
        return sum(isinstance(part, Image) for part in message.content)
    if isinstance(message, ToolMessage):
        return sum(len(result.images) for result in message.results)
    return 0


def without_pictures(message: Message, drop: int, word: str) -> Message:
    """Return the message with a word in the place of its first ``drop`` pictures."""
    if isinstance(message, UserMessage):
        parts: list[Text | Image] = []
        for part in message.content:
            if isinstance(part, Image) and drop > 0:
                drop -= 1
                parts.append(Text(word))
            else:
                parts.append(part)
        return UserMessage(tuple(parts))
    if not isinstance(message, ToolMessage):
        return message
    results: list[ToolResult] = []
    for result in message.results:
        gone = min(len(result.images), drop)
        drop -= gone
        told = "\n".join([result.output, *([word] * gone)]).lstrip("\n")
        results.append(replace(result, output=told, images=result.images[gone:]))
    return ToolMessage(tuple(results))


def _user(message: UserMessage) -> UserMessage:
    parts = [
        Text(valid(part.text)) if isinstance(part, Text) else part
        for part in message.content
        if isinstance(part, Image) or part.text.strip()
    ]
    return UserMessage(tuple(parts) or (Text(NO_TEXT),))


def _turn(
    position: int,
    message: AssistantMessage,
    waiting: Mapping[CallId, list[_Waiting]],
    *,
    taken: set[CallId],
    info: ModelInfo,
) -> list[Message]:
    """Return the turn and the results of its calls; a turn of thoughts alone is left out."""
    parts: list[Text | Thinking | ToolCall] = []
    results: list[ToolResult] = []
    own = _same_model(message, info)
    for part in message.content:
        if isinstance(part, Text) and part.text.strip():
            parts.append(Text(valid(part.text), part.signature if own else None))
        elif isinstance(part, Thinking) and _goes_back(part, message, info):
            parts.append(replace(part, text=valid(part.text)))
        elif isinstance(part, ToolCall):
            fresh = unused_id(portable_id(part.id) if part.id else part.id, taken)
            taken.add(fresh)
            name, raw = portable_name(part.name), valid(part.raw_arguments)
            mark = part.signature if own else None
            parts.append(ToolCall(fresh, name, raw, part.arguments, mark))
            found = _claim(position, waiting.get(part.id, ()))
            results.append(_result(found, fresh, name))
    while parts and isinstance(parts[-1], Thinking):
        # A thought that led to nothing any more: providers refuse one that nothing follows.
        parts.pop()
    if not parts:
        return []
    turn = replace(message, content=tuple(parts))
    return [turn, ToolMessage(tuple(results))] if results else [turn]


def _goes_back(part: Thinking, message: AssistantMessage, info: ModelInfo) -> bool:
    """Thoughts go back only to the model that had them, and only with its signature."""
    signed = bool(part.signature) and part.provider == info.provider
    return signed and _same_model(message, info)


def _same_model(message: AssistantMessage, info: ModelInfo) -> bool:
    return message.model in {"", info.id}


def _claim(position: int, waiting: Sequence[_Waiting]) -> ToolResult | None:
    """Return the first unclaimed result of a call that was stored after its turn."""
    for item in waiting:
        if not item.used and item.position > position:
            item.used = True
            return item.result
    return None


def _result(found: ToolResult | None, call: CallId, name: str) -> ToolResult:
    if found is None:
        return ToolResult(call, name, NO_RESULT, is_error=True)
    if found.is_error and found.images:
        # Anthropic takes no picture in an error.
        found = replace(found, output=f"{found.output}\n{LEFT_OUT}".lstrip("\n"), images=())
    output = valid(found.output) if found.output.strip() or found.images else NO_OUTPUT
    return replace(found, call=call, name=name, output=output)


def valid(text: str) -> str:
    """Return the text with a visible mark for each half of a surrogate pair that stands alone."""
    try:
        text.encode()
    except UnicodeEncodeError:
        # Two halves that stand side by side are one character; only a lone one is marked.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def argument_text(call: ToolCall) -> str:
    """Return a call's arguments as the JSON object that servers insist on reading back."""
    return json.dumps(argument_object(call), ensure_ascii=False)


def argument_object(call: ToolCall) -> dict[str, object]:
    """Return a call's arguments as plain JSON data; malformed ones are shown as what they were."""
    if call.arguments is None or _depth(call.arguments) > MAX_DEPTH:
        raw = valid(call.raw_arguments)
        return {"malformed_arguments": raw} if raw.strip() else {}
    text = valid(json.dumps(dict(call.arguments), ensure_ascii=False))
    # Python reads NaN and Infinity, which are no JSON: they go on as words.
    mended: dict[str, object] = json.loads(text, parse_constant=str)
    return mended


def _depth(value: object) -> int:
    """Return how deep an object is nested, without recursion."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        current, level = waiting.pop()
        deepest = max(deepest, level)
        if isinstance(current, Mapping):
            waiting.extend((item, level + 1) for item in current.values())
        elif isinstance(current, list):
            waiting.extend((item, level + 1) for item in current)
    return deepest
