"""Whatever a server writes where another type should stand, a fold gives a message or says why not."""

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import anyio
import pytest

from orchestrator.config.providers import ApiKind
from orchestrator.errors import ModelError
from orchestrator.model.anthropic_stream import AnthropicFold
from orchestrator.model.client import ModelInfo
from orchestrator.model.event_shape import list_in, object_in, shaped, text_in
from orchestrator.model.openai_chat_stream import ChatFold
from orchestrator.model.openai_responses_stream import ResponsesFold
from orchestrator.schema.message import AssistantMessage, ToolCall
from tests.support.model_contract import adapter, ask, asking
from tests.support.model_server import (
    REPLIES,
    Reply,
    anthropic_reply,
    chat_reply,
    responses_reply,
    serving,
)

ODD: list[Any] = [
    None, 0, -1, 1.5, "x", "", [], {}, [None], ["x"], {"a": 1}, True, 10**20, float("nan"), [{}],
]  # fmt: skip
CALLS = (("c1", "bash", '{"command": "ls"}'), ("c2", "read", '{"path": "a"}'))
THOUGHTS: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {
            "type": "content_block_start",
            "index": 7,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        },
        {
            "type": "content_block_delta",
            "index": 7,
            "delta": {"type": "thinking_delta", "thinking": "hm"},
        },
        {
            "type": "content_block_delta",
            "index": 7,
            "delta": {"type": "signature_delta", "signature": "s"},
        },
    ],
    "openai-chat": [
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "reasoning_content": "hm",
                        "content": [
                            {"type": "thinking", "thinking": [{"type": "text", "text": "x"}]},
                            {"type": "text", "text": "y"},
                        ],
                    },
                }
            ]
        }
    ],
    "openai-responses": [
        {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
        {
            "type": "response.output_item.done",
            "item": {
                "type": "reasoning",
                "id": "rs1",
                "summary": [{"type": "summary_text", "text": "hm"}],
                "content": [{"type": "reasoning_text", "text": "x"}],
                "encrypted_content": "e",
            },
        },
        {
            "type": "response.output_item.done",
            "item": {
                "type": "message",
                "id": "m9",
                "phase": "final",
                "content": [{"type": "refusal", "refusal": "no"}],
            },
        },
    ],
}
FOLDS: dict[str, Any] = {
    "anthropic": (AnthropicFold, anthropic_reply),
    "openai-chat": (ChatFold, chat_reply),
    "openai-responses": (ResponsesFold, responses_reply),
}


def places(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give every place of an event."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*place, key)
        if isinstance(value, dict | list):
            yield from places(value, (*place, key))


def put(data: Any, place: tuple[Any, ...], value: Any) -> None:
    for key in place[:-1]:
        data = data[key]
    data[place[-1]] = value


@pytest.mark.parametrize("api", FOLDS)
def test_no_odd_value_at_any_place_breaks_a_fold(api: str) -> None:
    """It ends with a message of texts, or with a ModelError that says why."""
    fold_of, reply = FOLDS[api]
    events = list(reply(text="hello world", calls=CALLS).events)
    events[1:1] = THOUGHTS[api]
    for number, event in enumerate(events):
        for place in places(event):
            for value in ODD:
                changed = copy.deepcopy(events)
                put(changed[number], place, value)
                check(fold_of(ModelInfo("x", "m", 100_000, 4_096)), changed)


def check(fold: Any, events: list[dict[str, Any]]) -> None:
    try:
        for event in events:
            assert all(isinstance(delta.text, str) for delta in fold.feed(shaped(event)))
        message = fold.finish(())
    except ModelError:
        return
    for part in message.content:
        names = ("id", "name", "raw_arguments") if isinstance(part, ToolCall) else ("text",)
        assert all(isinstance(getattr(part, name), str) for name in names)


def test_arguments_of_another_type_are_never_none_at_all() -> None:
    """A call whose arguments are a number would else run without any."""
    event = {"arguments": 5, "function": {"arguments": {"a": [1]}}, "partial_json": ["x"]}

    assert shaped(event) == {
        "arguments": "5",
        "function": {"arguments": '{"a": [1]}'},
        "partial_json": '["x"]',
    }


def test_members_of_no_type_of_theirs_are_left_out() -> None:
    event = {
        "index": "0", "finish_reason": 0, "choices": "x", "id": 7, "name": True, "delta": [1],
        "usage": [1], "text": None, "tool_calls": [None, 5, {"id": 8}],
    }  # fmt: skip

    assert shaped(event) == {"id": "7", "usage": [1], "tool_calls": [{"id": "8"}]}


def test_members_are_looked_up_by_type() -> None:
    event = {"a": {"b": 1}, "c": "d", "e": [1]}

    assert (object_in(event, "a"), object_in(event, "c")) == ({"b": 1}, {})
    assert (text_in(event, "c"), text_in(event, "a"), text_in(event, "z")) == ("d", "", "")
    assert (list_in(event, "e"), list_in(event, "a")) == ([1], [])


WIRE: dict[str, list[Any]] = {
    "anthropic": [[], 5, "ping", {"type": "content_block_delta", "index": [], "delta": 5}],
    "openai-chat": [[], 5, "ping", {"choices": "x"}, {"choices": [{"delta": "x"}]}],
    "openai-responses": [[], 5, "ping", {"type": []}, {"type": "response.output_item.done"}],
    "gemini": [{"candidates": True}, {"candidates": [5]}, {"candidates": [{"finishReason": []}]}],
}


@pytest.mark.parametrize(
    ("api", "odd"), [(api, odd) for api, events in WIRE.items() for odd in events]
)
def test_odd_event_through_a_vendors_own_sdk(api: ApiKind, odd: Any) -> None:
    """It is passed over, or the answer cannot be read: nothing else comes out."""
    whole = REPLIES[api](text="hello")
    reply = replace(whole, events=(*whole.events[:1], odd, *whole.events[1:]), named=False)
    if whole.named:
        lines = (f"event: {_name(e)}\ndata: {json.dumps(e)}\n\n" for e in reply.events)
        reply = Reply(200, {"content-type": "text/event-stream"}, "".join(lines).encode())

    async def scene(address: str) -> AssistantMessage:
        async with adapter(api, address) as client:
            message, _ = await ask(client, asking("hi"))
            return message

    with serving(reply) as server:
        try:
            text = anyio.run(scene, server.address).text
        except ModelError as error:
            text = error.kind
    assert text in {"hello", "server", "network"}
    assert (text == "hello") is (api != "gemini")


def _name(event: Any) -> str:
    return str(event.get("type")) if isinstance(event, dict) else "odd"
