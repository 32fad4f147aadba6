"""What each API refuses a conversation for, written from their documents: not from our adapters.

Each function returns faults in words; an empty list is a request that the provider would take.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")
TOOL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
NINE = re.compile(r"[a-zA-Z0-9]{9}")


def messages_faults(body: Mapping[str, Any]) -> list[str]:
    """Return what Anthropic Messages would refuse."""
    messages = body["messages"]
    found = [*_text_faults(body)]
    if not messages or messages[0]["role"] != "user":
        found.append("the first message is not the user's")
    ids: set[str] = set()
    for at, message in enumerate(messages):
        blocks = message["content"]
        if not blocks:
            found.append(f"{at}: no content")
        for block in blocks:
            found += [f"{at}: {fault}" for fault in _block_faults(block)]
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        found += [
            f"{at}: id {call!r} twice" for call in calls if call in ids or calls.count(call) > 1
        ]
        ids.update(calls)
        after = messages[at + 1]["content"] if at + 1 < len(messages) else []
        answers = [block["tool_use_id"] for block in after if block["type"] == "tool_result"]
        if message["role"] == "assistant" and sorted(answers) != sorted(calls):
            found.append(f"{at}: calls {calls} have results {answers}")
        kinds = [block["type"] == "tool_result" for block in blocks]
        if kinds != sorted(kinds, reverse=True):
            found.append(f"{at}: results do not come first")
        if any(kinds) and (at == 0 or messages[at - 1]["role"] != "assistant"):
            found.append(f"{at}: results without an answer before them")
    return found


def _block_faults(block: Mapping[str, Any]) -> Iterator[str]:
    kind = block["type"]
    if kind == "text" and not block["text"].strip():
        yield "empty text"
    if kind == "thinking" and not block["signature"]:
        yield "a thought without signature"
    if kind == "tool_use":
        if not ANTHROPIC_ID.fullmatch(block["id"]):
            yield f"id {block['id']!r}"
        if not isinstance(block["input"], dict):
            yield "input is no object"
        if not TOOL.fullmatch(block["name"]):
            yield f"tool {block['name']!r}"
    if kind == "tool_result":
        content = block["content"]
        if not content:
            yield "an empty result"
        if block.get("is_error") and any(part["type"] != "text" for part in _parts(content)):
            yield "an error with a picture"
        if any(part["type"] == "text" and not part["text"].strip() for part in _parts(content)):
            yield "a result with an empty text"


def _parts(content: Any) -> Sequence[Mapping[str, Any]]:
    return [] if isinstance(content, str) else content


def chat_faults(
    body: Mapping[str, Any], *, ids: str = "portable", strict_roles: bool = False
) -> list[str]:
    """Return what Chat Completions would refuse; Mistral with nine-letter ids and strict roles."""
    messages = body["messages"]
    found = [*_text_faults(body)]
    seen: set[str] = set()
    waiting: list[str] = []
    for at, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            call = message["tool_call_id"]
            if call not in waiting:
                found.append(f"{at}: result of {call!r}, which nobody waits for")
            else:
                waiting.remove(call)
            if not message["content"].strip():
                found.append(f"{at}: an empty result")
            continue
        if waiting:
            found.append(f"{at}: {role} while {waiting} wait")
            waiting = []
        if strict_roles and role == "user" and at and messages[at - 1]["role"] == "tool":
            found.append(f"{at}: user directly after results")
        if role == "assistant":
            calls = message.get("tool_calls") or []
            if not calls and not (message["content"] or "").strip():
                found.append(f"{at}: an empty answer")
            for call in calls:
                waiting.append(call["id"])
                found += [f"{at}: {fault}" for fault in _call_faults(call, seen, ids)]
        elif not message["content"]:
            found.append(f"{at}: {role} says nothing")
    return found + ([f"{waiting} have no result"] if waiting else [])


def _call_faults(call: Mapping[str, Any], seen: set[str], ids: str) -> Iterator[str]:
    name = call["id"]
    if name in seen:
        yield f"id {name!r} twice"
    seen.add(name)
    if not name or len(name) > 40 or (ids == "nine" and not NINE.fullmatch(name)):
        yield f"id {name!r}"
    if not TOOL.fullmatch(call["function"]["name"]):
        yield f"tool {call['function']['name']!r}"
    try:
        arguments = json.loads(call["function"]["arguments"], parse_constant=_refuse)
    except ValueError:
        yield "arguments are no JSON"
    else:
        if not isinstance(arguments, dict):
            yield "arguments are no object"


def responses_faults(body: Mapping[str, Any]) -> list[str]:
    """Return what OpenAI Responses would refuse."""
    items = body["input"]
    found = [*_text_faults(body)]
    calls: dict[str, bool] = {}
    for at, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "function_call":
            name = item["call_id"]
            if not name or len(name) > 64 or name in calls:
                found.append(f"{at}: id {name!r}")
            calls[name] = False
            if not TOOL.fullmatch(item["name"]):
                found.append(f"{at}: tool {item['name']!r}")
            json.loads(item["arguments"], parse_constant=_refuse)
        elif kind == "function_call_output":
            if calls.get(item["call_id"], True):
                found.append(f"{at}: output of {item['call_id']!r} without a call, or twice")
            calls[item["call_id"]] = True
            if not item["output"]:
                found.append(f"{at}: an empty output")
        elif kind == "reasoning":
            if not item.get("encrypted_content"):
                found.append(f"{at}: reasoning that is not stored and has no content")
            after = items[at + 1] if at + 1 < len(items) else {}
            if after.get("role") == "user" or not after:
                found.append(f"{at}: reasoning without what followed it")
        elif not item["content"]:
            found.append(f"{at}: says nothing")
    return found + [f"call {name!r} has no output" for name, done in calls.items() if not done]


def gemini_faults(body: Mapping[str, Any]) -> list[str]:
    """Return what generateContent would refuse: turns that alternate, calls answered at once."""
    contents = body["contents"]
    found = [*_text_faults(body)]
    for at, content in enumerate(contents):
        parts = content["parts"]
        if not parts or any(not part for part in parts):
            found.append(f"{at}: no parts")
        if at and contents[at - 1]["role"] == content["role"]:
            found.append(f"{at}: two turns of {content['role']}")
        calls = [p["functionCall"]["name"] for p in parts if "functionCall" in p]
        found += [f"{at}: tool {name!r}" for name in calls if not TOOL.fullmatch(name)]
        after = contents[at + 1]["parts"] if at + 1 < len(contents) else []
        answers = [p["functionResponse"]["name"] for p in after if "functionResponse" in p]
        if content["role"] == "model" and calls != answers:
            found.append(f"{at}: calls {calls} have responses {answers}")
        if content["role"] == "user" and any("functionResponse" in p for p in parts) and not at:
            found.append(f"{at}: responses without a call")
    if contents and contents[0]["role"] != "user":
        found.append("the first turn is not the user's")
    return found


def _text_faults(body: Mapping[str, Any]) -> Iterator[str]:
    try:
        json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        yield "half a character"
    except ValueError:
        yield "NaN or Infinity"


def _refuse(word: str) -> Any:
    raise ValueError(word)
