"""Requests for any history are what the vendors document."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.config.providers import ApiKind
from orchestrator.model import (
    anthropic_request,
    gemini_request,
    openai_chat_request,
    openai_responses_request,
)
from orchestrator.model.client import ModelInfo, OutputShape, Prompt
from orchestrator.schema.message import Message
from orchestrator.schema.thinking import THINKING_LEVELS, ThinkingLevel
from tests.support.model_bodies import faults
from tests.support.model_contract import BASH, target_of
from tests.support.model_history import asked, damaged_history

INFO = ModelInfo("vendor", "model-1", 100_000, 4_096, thinking=THINKING_LEVELS)
TOLD = ("cache", "cache_options", "thinking_by")
APIS: tuple[ApiKind, ...] = ("anthropic", "openai-chat", "openai-responses", "gemini")


def body_of(api: ApiKind, messages: tuple[Message, ...], **more: Any) -> dict[str, Any]:
    """Return the body for a history, as it is sent."""
    told = {name: more.pop(name) for name in TOLD if name in more}
    prompt = Prompt("Be brief.", messages, more.pop("tools", (BASH,)), **more)
    target = target_of(api, "http://127.0.0.1:1", info=INFO, reasoning=True, **told)
    if api == "anthropic":
        body = anthropic_request.request_body(prompt, target)
    elif api == "gemini":
        return gemini_request.request_body(prompt, target)
    elif api == "openai-chat":
        body = openai_chat_request.request_body(prompt, target)
    else:
        body = openai_responses_request.request_body(prompt, target)
    return body | {"stream": True}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("purpose", ["turn", "conclusion", "summary"])
@pytest.mark.parametrize("tools", [(BASH,), ()])
def test_damaged_history_makes_a_valid_body(api: ApiKind, purpose: str, tools: tuple[Any]) -> None:
    """No history, however broken, makes a request that a vendor must refuse."""
    body = body_of(api, damaged_history("vendor"), purpose=purpose, tools=tools)
    assert faults(api, body) == []


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("level", THINKING_LEVELS)
@pytest.mark.parametrize("thinking_by", ["effort", "budget"])
def test_every_level_of_thinking_makes_a_valid_body(
    api: ApiKind, level: ThinkingLevel, thinking_by: str
) -> None:
    """Each in the vendor's own words."""
    body = body_of(api, (asked("hello"),), thinking=level, thinking_by=thinking_by)
    assert faults(api, body) == []


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("cache", ["none", "short", "long"])
@pytest.mark.parametrize("options", [True, False])
def test_every_length_of_cache_makes_a_valid_body(api: ApiKind, cache: str, options: bool) -> None:
    """So does a session's key, also one that is longer than the vendor takes."""
    history = damaged_history("vendor")
    body = body_of(api, history, cache=cache, cache_options=options, cache_key="s" * 90)
    assert faults(api, body) == []


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("tier", ["native", "json"])
def test_form_of_an_answer_makes_a_valid_body(api: ApiKind, tier: Any) -> None:
    """With and without a schema that the provider holds to."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    shape = OutputShape("verdict", schema, tier)
    body = body_of(api, (asked("hello"),), shape=shape, purpose="structured", thinking="low")
    assert faults(api, body) == []


@pytest.mark.parametrize("api", APIS)
def test_every_call_is_answered_once_right_after_its_turn(api: ApiKind) -> None:
    """The one rule that all vendors enforce."""
    body = body_of(api, damaged_history("vendor"))
    waiting: list[str] = []
    for call, answer in _calls_and_answers(api, body):
        if call:
            waiting.append(call)
        else:
            assert waiting.pop(0) == answer
    assert waiting == []


def _calls_and_answers(api: ApiKind, body: dict[str, Any]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for message in body.get("messages") or body.get("input") or body["contents"]:
        if api == "gemini":
            pairs += [
                (
                    part.get("function_call", {}).get("id", ""),
                    part.get("function_response", {}).get("id", ""),
                )
                for part in message["parts"]
            ]
        elif api == "anthropic":
            pairs += [
                (part.get("id", ""), part.get("tool_use_id", "")) for part in message["content"]
            ]
        elif api == "openai-chat":
            pairs += [(call["id"], "") for call in message.get("tool_calls", ())]
            pairs.append(("", message.get("tool_call_id", "")))
        else:
            kind, call_id = message.get("type"), message.get("call_id", "")
            pairs.append((call_id, "") if kind == "function_call" else ("", call_id))
    return [pair for pair in pairs if pair != ("", "")]


@pytest.mark.parametrize("api", APIS)
def test_body_is_plain_utf8_json(api: ApiKind) -> None:
    """Half a character in a tool's output does not end a session."""
    text = str(body_of(api, damaged_history("vendor")))
    assert "\ufffd" in text
    text.encode()


def test_the_check_finds_a_wrong_body() -> None:
    """The check itself can fail."""
    body = body_of("openai-chat", (asked("hello"),))
    assert faults("openai-chat", body) == []
    body["messages"][0]["role"] = "wizard"
    assert faults("openai-chat", body)
    assert faults("anthropic", body_of("anthropic", (asked("hello"),)) | {"unheard_of": 1})
