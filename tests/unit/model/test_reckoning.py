"""What a server reports of tokens counts as far as the texts could have so many."""

import json
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.config.providers import ApiKind
from orchestrator.errors import ModelError
from orchestrator.model.anthropic_stream import AnthropicFold
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.model.openai_chat_stream import ChatFold
from orchestrator.model.openai_responses_stream import ResponsesFold
from orchestrator.model.reckoning import credible
from orchestrator.model.sdk import open_adapter
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)
from tests.support.model_contract import BASH, KEY, adapter, ask, asking, target_of
from tests.support.model_server import REPLIES, Reply, error_body, serving

WORDS = "The quick brown fox jumps over the lazy dog. "
PROMPT = Prompt(WORDS * 100, (UserMessage((Text("hello"),)),), (BASH,))
"""About a thousand tokens."""
LONG = AssistantMessage((Text(WORDS * 250),), "end_turn")
"""About 2,500 tokens in 11 kB."""

APIS: tuple[ApiKind, ...] = ("anthropic", "openai-chat", "openai-responses", "gemini")
ABSURD: list[Any] = [None, 0, -1, -(10**18), 10**18, 2.5, float("nan"), "many", True, [], {"a": 1}]
UNREAD: list[Any] = [ABSURD[6], 2.5, "many", [], {"a": 1}]


def reckoned(usage: Usage, message: AssistantMessage = LONG, prompt: Prompt = PROMPT) -> Usage:
    return credible(prompt, replace(message, usage=usage), info())


@pytest.mark.parametrize(
    "usage",
    [Usage(1_000, 2_500), Usage(10, 2_500, 980, 10), Usage(700, 1_500), Usage(4_000, 90_000)],
)
def test_what_can_be_is_taken_at_its_word(usage: Usage) -> None:
    """Also where thoughts that nobody sees, or a server's own instructions, are in it."""
    assert reckoned(usage) == usage


@pytest.mark.parametrize(
    ("usage", "estimated"),
    [
        (Usage(), "both"),
        (Usage(1_000, 0), "output"),
        (Usage(1_000, 3), "output"),
        (Usage(0, 2_500), "input"),
        (Usage(9, 2_500), "input"),
        (Usage(10**18, 2_500), "input"),
        (Usage(0, 2_500, 10**18), "input"),
        (Usage(1_000, 10**18), "output"),
    ],
)
def test_what_cannot_be_is_reckoned_and_marked(usage: Usage, estimated: str) -> None:
    """Side by side: a good count of the prompt stays where that of the answer is none."""
    found = reckoned(usage)

    assert 700 <= found.input <= 2_000
    assert 1_500 <= found.output <= 4_000
    wanted = {"both": found.total, "input": found.input, "output": found.output}
    assert found.estimated == wanted[estimated]


def test_blanks_and_lines_of_one_character_may_be_few_tokens() -> None:
    """A token may be a hundred blanks long: few tokens for many of them are no lie."""
    wide = AssistantMessage((Text("=" * 20_000 + "\n" + " " * 40_000),), "end_turn")

    assert reckoned(Usage(1_000, 400), wide).estimated == 0


@pytest.mark.parametrize(
    "message",
    [
        AssistantMessage((), "end_turn"),
        AssistantMessage((Text("(refused by the provider: no " + "x" * 4_000 + ")"),), "refusal"),
    ],
)
def test_nothing_said_costs_nothing_to_say(message: AssistantMessage) -> None:
    """A refusal's words are ours, or a filter's."""
    assert reckoned(Usage(1_000), message) == Usage(1_000)


def test_calls_thoughts_pictures_and_results_are_part_of_it() -> None:
    """Of the answer's size, and of the most that a prompt may have."""
    call = ToolCall(CallId("c"), "write", json.dumps({"text": WORDS * 100}))
    seen = AssistantMessage((Thinking("hm" * 9_000, "x", "m" * 400), call), "tool_use")
    shown = ToolResult(CallId("c"), "write", WORDS * 100, images=(Image("image/png", "aaaa"),))
    prompt = Prompt("", (UserMessage((Text("go"), Image("image/png", "aaaa"))), seen,
                         ToolMessage((shown,))))  # fmt: skip

    assert reckoned(Usage(2_500, 0), seen, prompt).output > 1_000
    assert reckoned(Usage(150_000, 2_000), seen, prompt).estimated == 0
    assert reckoned(Usage(20, 2_000), seen, prompt).estimated > 4_000


NUMBERS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.integers(0, 5_000),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=4),
    st.booleans(),
    st.none(),
    st.lists(st.integers(), max_size=1),
)
NAMES = (
    "prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "cached_tokens",
    "cache_read_input_tokens", "cache_creation_input_tokens", "prompt_cache_hit_tokens",
)  # fmt: skip
DETAILS = st.dictionaries(st.sampled_from(["cached_tokens", "cache_write_tokens"]), NUMBERS)
TOLD = st.one_of(
    st.none(),
    st.integers(),
    st.text(max_size=3),
    st.dictionaries(
        st.sampled_from([*NAMES, "prompt_tokens_details", "input_tokens_details"]),
        st.one_of(NUMBERS, DETAILS),
    ),
)


@settings(max_examples=300, deadline=None)
@given(TOLD)
def test_no_report_makes_an_answer_free_or_endless(told: Any) -> None:
    """Whatever stands where the usage should: the limits count what the texts can be, no less."""
    for usage in folded(told):
        found = reckoned(usage)

        assert all(type(n) is int and n >= 0 for n in (found.input, found.output, found.cache_read))
        assert 190 <= found.total - found.output <= 200_000
        assert 500 <= found.output <= 1_100_000
        assert 0 <= found.estimated <= found.total


def folded(told: Any) -> list[Usage]:
    """Return what each fold makes of a usage as it stands in the JSON."""
    chat, responses, anthropic = (fold(info()) for fold in (ChatFold, ResponsesFold, AnthropicFold))
    choice = {"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}
    for event in ({"choices": [choice]}, {"choices": [], "usage": told}):
        list(chat.feed(event))
    list(responses.feed({"type": "response.completed", "response": {"usage": told}}))
    for event in (
        {"type": "message_start", "message": {"usage": told}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": told},
        {"type": "message_stop"},
    ):
        list(anthropic.feed(event))
    return [fold.finish(()).usage for fold in (chat, responses, anthropic)]


def info() -> ModelInfo:
    return ModelInfo("x", "m", 100_000, 4_096)


def spoiled(data: Any, value: Any) -> Any:
    """Return events with another value for each count, or without any usage where it is None."""
    if isinstance(data, dict):
        kept = data.items()
        if value is None:
            kept = [(k, v) for k, v in kept if k not in {"usage", "usageMetadata"}]
        return {
            k: value if k.lower().endswith(("tokens", "tokencount")) else spoiled(v, value)
            for k, v in kept
        }
    return [spoiled(item, value) for item in data] if isinstance(data, list) else data


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("value", ABSURD, ids=repr)
def test_every_api_bears_every_count(api: ApiKind, value: Any) -> None:
    """Over the wire and through the vendor's own SDK: the answer stands, its tokens are reckoned.

    Google's SDK reads no event with a count of another type: the call fails, after a second try.
    """
    whole = REPLIES[api](text=WORDS * 250)
    reply = replace(whole, events=tuple(spoiled(list(whole.events), value)))

    async def scene(address: str) -> AssistantMessage:
        async with adapter(api, address) as client:
            message, _ = await ask(client, asking(WORDS * 100))
            return message

    with serving(reply) as server:
        if api == "gemini" and value in UNREAD:
            with pytest.raises(ModelError, match="cannot be read") as caught:
                anyio.run(scene, server.address)
            assert caught.value.tries == 2
            return
        message = anyio.run(scene, server.address)

    assert message.text == WORDS * 250
    assert 700 <= message.usage.input <= 2_000
    assert 1_500 <= message.usage.output <= 4_000
    assert message.usage.estimated == message.usage.total


BREAKS = [
    {"text": WORDS * 250},
    {"calls": (("call_1", "bash", json.dumps({"command": WORDS * 250})),)},
]


def tried(api: ApiKind, *replies: Reply) -> list[Usage]:
    """Ask once, where a failure is expected; return what of a broken-off answer is counted."""
    counted: list[Usage] = []

    async def count(_: ModelInfo, usage: Usage) -> None:
        counted.append(usage)

    async def scene(address: str) -> None:
        async with open_adapter(target_of(api, address), KEY, on_broken=count) as client:
            await client.complete(PROMPT, on_delta=lambda _: None)

    with serving(*replies) as server, pytest.raises(ModelError):
        anyio.run(scene, server.address)
    return counted


@pytest.mark.parametrize("said", BREAKS, ids=["text", "call"])
@pytest.mark.parametrize("api", APIS)
def test_what_was_heard_of_an_answer_that_broke_off_is_counted(
    api: ApiKind, said: dict[str, Any]
) -> None:
    """Nobody keeps it, and the provider bills it, prompt and all."""
    whole = REPLIES[api](**said)
    heard = [piece_of_call(half) for half in halves(said)] if api == "openai-responses" else []
    events = (*whole.events[:-2], *heard) if heard else whole.events[:-1]
    (usage,) = tried(api, replace(whole, events=events, done=False, cut=True))

    assert 700 <= usage.input <= 2_000
    assert 1_500 <= usage.output <= 4_000
    assert usage.estimated == usage.total


def halves(said: dict[str, Any]) -> list[str]:
    raw = "".join(call[2] for call in said.get("calls", ()))
    return [half for half in (raw[:5], raw[5:]) if half]


def piece_of_call(half: str) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.delta", "item_id": "fc_0", "delta": half}


@pytest.mark.parametrize("status", [200, 400, 429, 529])
@pytest.mark.parametrize("api", APIS)
def test_try_of_which_nothing_came_costs_nothing(api: ApiKind, status: int) -> None:
    """A provider that refuses bills nothing."""
    refused = Reply(status, {}, error_body(api, "overloaded_error", "busy"))

    assert tried(api, refused) == []
