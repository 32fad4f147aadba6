"""A vendor's API for tests: it takes what its documents allow and refuses the rest with their 400.

It signs its thoughts, and takes a signature back only as it gave it, with the very thought or call it
gave it for: so a test sees both what another vendor's history makes of a request, and whether a
conversation that comes back is still its own.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from google.genai.types import Content, FunctionDeclaration, ThinkingConfig
from pydantic import ValidationError

from orchestrator.config.providers import ApiKind
from tests.support.model_bodies import faults
from tests.support.model_rules import (
    chat_faults,
    gemini_faults,
    messages_faults,
    responses_faults,
)
from tests.support.model_server import REPLIES, Asked, ModelServer, Reply, error_body

RULES = {
    "anthropic": messages_faults,
    "openai-chat": chat_faults,
    "openai-responses": responses_faults,
    "gemini": gemini_faults,
}
UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode()
"""What Google documents for a call that another model made."""
Seal = tuple[str, str]
"""A signature, and what was signed."""


@dataclass(frozen=True)
class Say:
    """One answer: a thought, then text and calls ``(id, name, arguments)``."""

    text: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    thought: str = ""
    hangs: bool = False
    """It falls silent in the middle."""


class Vendor(ModelServer):
    """One vendor; ``refused`` holds in words what it would not take."""

    def __init__(self, api: ApiKind, *script: Say | Reply) -> None:
        """Answer as ``script`` says, in order."""
        super().__init__([])
        self.api = api
        self.script = list(script)
        self.issued: list[Seal] = []
        self.refused: list[str] = []

    def take(self, asked: Asked) -> Reply:
        """Judge a request, and answer it."""
        with self._lock:
            self.asked.append(asked)
            found = [*body_faults(self.api, asked.body), *self._foreign(asked.body)]
            found += [] if self.script else ["the script of the test is over"]
            self.refused += found
            if found:
                words = error_body(self.api, "invalid_request_error", "; ".join(found))
                return Reply(400, {}, words)
            return self._answer(self.script.pop(0))

    def came_back(self) -> list[Seal]:
        """Return the vendor's own seals that its newest request brought, in order."""
        return [seal for seal in seals(self.api, self.asked[-1].body) if seal in self.issued]

    def _foreign(self, body: Mapping[str, Any]) -> Iterator[str]:
        for seal in seals(self.api, body):
            if seal not in self.issued and seal[0] != UNSIGNED:
                yield f"signature {seal[0]!r} was not given for {seal[1]!r}"

    def _answer(self, say: Say | Reply) -> Reply:
        if isinstance(say, Reply):
            return say
        seal = base64.b64encode(f"{self.address} {len(self.issued)}".encode()).decode()
        reply = REPLIES[self.api](text=say.text, calls=say.calls)
        if say.thought:
            made = _SEALED[self.api](reply, say, seal)
            reply = replace(reply, events=tuple(made))
            self.issued.append(_given(self.api, say, seal))
        if say.hangs:
            half = reply.events[: -1 if self.api == "gemini" else -2]
            return replace(reply, events=half, silent_s=60.0, done=False)
        return reply


def body_faults(api: str, body: Mapping[str, Any]) -> list[str]:
    """Return what the vendor's documents forbid in a body as it came over the wire."""
    if api == "gemini":
        return [*_rest_faults(body), *gemini_faults(body), *_unsigned(body)]
    return [*faults(api, body), *RULES[api](body), *_begun(api, body)]


_REST = {
    "contents": Content,
    "systemInstruction": Content,
    "tools": None,
    "toolConfig": None,
    "generationConfig": None,
}


def _rest_faults(body: Mapping[str, Any]) -> Iterator[str]:
    """Hold the body that Gemini's SDK wrote against the API's own types."""
    yield from (f"{name}: unknown" for name in set(body) - set(_REST))
    parts = [(Content, content) for content in body["contents"]]
    parts += [(Content, body["systemInstruction"])] if "systemInstruction" in body else []
    for tool in body.get("tools", ()):
        parts += [(FunctionDeclaration, one) for one in tool["functionDeclarations"]]
    config = body.get("generationConfig", {})
    yield from (
        f"generationConfig.{name}: unknown"
        for name in set(config) - {"maxOutputTokens", "thinkingConfig"}
    )
    parts.append((ThinkingConfig, config.get("thinkingConfig", {})))
    for shape, value in parts:
        try:
            shape.model_validate(value)
        except ValidationError as error:
            yield from (f"{item['loc']}: {item['msg']}" for item in error.errors())


def _unsigned(body: Mapping[str, Any]) -> Iterator[str]:
    """From version 3 on, the first call of each of the model's turns needs a signature."""
    for at, content in enumerate(body["contents"]):
        calls = [part for part in content["parts"] if "functionCall" in part]
        if calls and not calls[0].get("thoughtSignature"):
            yield f"{at}: a call without a signature"


def _begun(api: str, body: Mapping[str, Any]) -> Iterator[str]:
    """With a budget of thought, a turn that is still at its calls must have begun with a thought."""
    if api != "anthropic" or body.get("thinking", {}).get("type") != "enabled":
        return
    last = body["messages"][-1]["content"]
    if any(block["type"] == "tool_result" for block in last):
        first = body["messages"][-2]["content"][0]["type"]
        if first not in {"thinking", "redacted_thinking"}:
            yield f"expected a thinking block first, found {first}"


def seals(api: str, body: Mapping[str, Any]) -> list[Seal]:
    """Return all signatures in a body, each with what it stands for."""
    found: list[Seal] = []
    if api == "anthropic":
        blocks = [block for message in body["messages"] for block in message["content"]]
        found = [(b["signature"], b["thinking"]) for b in blocks if b["type"] == "thinking"]
    elif api == "openai-responses":
        items = [item for item in body["input"] if item.get("type") == "reasoning"]
        found = [(i["encrypted_content"], i["summary"][0]["text"]) for i in items]
    elif api == "openai-chat":
        # No signature, but the vendors that want their thoughts back want them word for word.
        said = [message.get("reasoning_content") for message in body["messages"]]
        found = [(text, text) for text in said if text]
    else:
        parts = [part for content in body["contents"] for part in content["parts"]]
        found = [(p["thoughtSignature"], _part(p)) for p in parts if "thoughtSignature" in p]
    return found


def _part(part: Mapping[str, Any]) -> str:
    call = part.get("functionCall")
    return str(call["name"] if call else part.get("text", ""))


def _given(api: str, say: Say, seal: str) -> Seal:
    """Return what an answer's signature stands for: with Gemini its first call, or its text."""
    if api == "openai-chat":
        return say.thought, say.thought
    if api == "gemini":
        return seal, say.calls[0][1] if say.calls else say.text
    return seal, say.thought


def _anthropic(reply: Reply, say: Say, seal: str) -> Iterator[dict[str, Any]]:
    first, *rest = reply.events
    yield first
    block = {"type": "thinking", "thinking": "", "signature": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    for delta in (
        {"type": "thinking_delta", "thinking": say.thought},
        {"type": "signature_delta", "signature": seal},
    ):
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    for event in rest:
        yield event | ({"index": event["index"] + 1} if "index" in event else {})


def _chat(reply: Reply, say: Say, _: str) -> Iterator[dict[str, Any]]:
    first, *rest = reply.events
    choice = {"index": 0, "delta": {"reasoning_content": say.thought}, "finish_reason": None}
    yield from (first, first | {"choices": [choice]}, *rest)


def _responses(reply: Reply, say: Say, seal: str) -> Iterator[dict[str, Any]]:
    *before, last = reply.events
    summary = [{"type": "summary_text", "text": say.thought}]
    item = {"type": "reasoning", "id": f"rs_{seal[:8]}", "summary": summary}
    item["encrypted_content"] = seal
    yield from before[:1]
    yield {"type": "response.reasoning_summary_text.delta", "delta": say.thought}
    yield {"type": "response.output_item.done", "item": item}
    yield from before[1:]
    whole = last["response"] | {"output": [item, *last["response"]["output"]]}
    yield last | {"response": whole}


def _gemini(reply: Reply, say: Say, seal: str) -> Iterator[dict[str, Any]]:
    thought = {"role": "model", "parts": [{"text": say.thought, "thought": True}]}
    yield {"candidates": [{"index": 0, "content": thought}]}
    left = seal
    for event in reply.events:
        (candidate,) = event["candidates"]
        (part,) = candidate["content"]["parts"]
        part = {name: value for name, value in part.items() if name != "thoughtSignature"}
        last = "finishReason" in candidate
        # Of calls side by side the first is signed; text is signed at its end.
        if left and ("functionCall" in part or last):
            part, left = part | {"thoughtSignature": left}, ""
        content = {"role": "model", "parts": [part]}
        yield event | {"candidates": [candidate | {"content": content}]}


_SEALED = {
    "anthropic": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini": _gemini,
}
