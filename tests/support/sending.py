"""A conversation as each API would be sent it, and held against what the API refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.config.providers import ApiKind
from orchestrator.model.anthropic_request import request_body as messages_body
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.model.gemini_request import request_body as gemini_body
from orchestrator.model.openai_chat_request import request_body as chat_body
from orchestrator.model.openai_responses_request import request_body as responses_body
from orchestrator.schema.message import Message
from tests.support.model_bodies import as_sent, faults
from tests.support.model_contract import BASH, target_of
from tests.support.model_rules import chat_faults, messages_faults, responses_faults

APIS: tuple[ApiKind, ...] = ("anthropic", "openai-chat", "openai-responses", "gemini")
_BODIES = {
    "anthropic": messages_body,
    "openai-chat": chat_body,
    "openai-responses": responses_body,
    "gemini": gemini_body,
}
_RULES = {
    "anthropic": messages_faults,
    "openai-chat": chat_faults,
    "openai-responses": responses_faults,
}


def request_to(
    api: ApiKind, messages: Sequence[Message], *, info: ModelInfo | None = None, **more: Any
) -> Mapping[str, Any]:
    """Return the request; asserts that the API would take it."""
    known = info or ModelInfo("contract", "mock-model", 100_000, 4_096)
    target = target_of(api, "http://127.0.0.1:1", info=known, **more)
    body = _BODIES[api](Prompt("be good", tuple(messages), (BASH,)), target)
    if api == "gemini":
        # Its rules are among its shapes'.
        assert faults(api, body) == []
        return as_sent(body)
    assert faults(api, body | {"stream": True}) == []
    assert _RULES[api](body) == []
    return body


def assert_any_api_takes(messages: Sequence[Message]) -> None:
    """The conversation is a request that every API takes."""
    for api in APIS:
        request_to(api, messages)
