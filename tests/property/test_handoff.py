"""Whatever a session holds, every API gets a request that it takes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.model.anthropic_request import request_body as messages_body
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.model.dialect import dialect_names, dialect_of
from orchestrator.model.gemini_request import request_body as gemini_body
from orchestrator.model.openai_chat_request import request_body as chat_body
from orchestrator.model.openai_responses_request import request_body as responses_body
from orchestrator.schema.codec import parse_arguments
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from tests.support.model_bodies import faults
from tests.support.model_contract import BASH, target_of
from tests.support.model_history import PIXEL, REASONING
from tests.support.model_rules import chat_faults, messages_faults, responses_faults

PICTURE = Image("image/png", PIXEL)
IDS = st.sampled_from(
    [
        "",
        "a",
        "a",
        "b",
        "call_a|fc_b" + "x" * 440,
        "call_a|fc_b" + "x" * 439 + "y",
        "toolu 1",
        "é",
        "#!",
    ]
)
TEXTS = st.sampled_from(["", " ", "\n", "words", "\ud83d", "\ud83d\ude00", "\0", "x" * 300])
RAW = st.sampled_from(
    ["", "{}", '{"a": 1}', '{"a"', "null", "[]", "3", '"s"', '{"a": NaN}', '{"a": "\\ud800"}',
     '{"a": ' * 80 + "1" + "}" * 80]
)  # fmt: skip
SIGNATURES = st.sampled_from(
    [None, "", "c2ln", REASONING, "reasoning_content", "redacted:xx", "{}"]
)
PROVIDERS = st.sampled_from(["contract", "somebody", ""])
STOPS = st.sampled_from(["end_turn", "tool_use", "max_tokens", "refusal", "aborted", "pause"])


def _call(name, raw, tool, mark):
    return ToolCall(CallId(name), tool, raw, parse_arguments(raw), mark)


NAMES = st.sampled_from(["bash", "read", "functions.bash", "", "9 é", "\ud83d", "x" * 200])
CALLS = st.builds(_call, IDS, RAW, NAMES, SIGNATURES)
SAID = st.builds(Text, TEXTS, SIGNATURES)
THOUGHTS = st.builds(Thinking, TEXTS, PROVIDERS, SIGNATURES)
USERS = st.builds(
    lambda parts: UserMessage(tuple(parts)),
    st.lists(st.one_of(st.builds(Text, TEXTS), st.just(PICTURE)), max_size=3),
)
ANSWERS = st.builds(
    lambda parts, stop, model: AssistantMessage(tuple(parts), stop, model=model),
    st.lists(st.one_of(SAID, THOUGHTS, CALLS), max_size=4),
    STOPS,
    st.sampled_from(["contract/mock-model", "other/model", ""]),
)
RESULTS = st.builds(
    lambda parts: ToolMessage(tuple(parts)),
    st.lists(
        st.builds(
            lambda name, text, wrong, pictures: ToolResult(
                CallId(name), "bash", text, wrong, (PICTURE,) * pictures
            ),
            IDS, TEXTS, st.booleans(), st.integers(0, 2),
        ),
        max_size=4,
    ),
)  # fmt: skip
HISTORIES = st.lists(st.one_of(USERS, ANSWERS, RESULTS), max_size=14)
MANY = settings(max_examples=400, deadline=None)


def prompt(history, purpose="turn"):
    return Prompt("be good", tuple(history), (BASH,), purpose=purpose, cache_key="s")


def target(api, *, sees=True, **more):
    info = ModelInfo("contract", "mock-model", 100_000, 4_096, images=sees)
    return target_of(api, "http://127.0.0.1:1", info=info, **more)


@MANY
@given(HISTORIES, st.booleans())
def test_messages_takes_any_history(history, sees):
    found = target("anthropic", sees=sees)
    body = messages_body(prompt(history), found)

    assert messages_faults(body) == []
    assert sees or "image" not in _kinds(body)


@MANY
@given(HISTORIES, st.sampled_from(dialect_names()), st.booleans())
def test_chat_takes_any_history_in_every_dialect(history, name, sees):
    dialect = dialect_of(name, "http://127.0.0.1")
    body = chat_body(prompt(history), target("openai-chat", sees=sees, dialect=dialect))

    found = chat_faults(body, ids=dialect.ids, strict_roles=dialect.answer_after_results)
    assert found == []
    assert sees or "image_url" not in _kinds(body)


@MANY
@given(HISTORIES, st.booleans())
def test_responses_takes_any_history(history, sees):
    body = responses_body(prompt(history), target("openai-responses", sees=sees, reasoning=True))

    assert responses_faults(body) == []
    assert sees or "input_image" not in _kinds(body)


@MANY
@given(HISTORIES, st.booleans(), st.sampled_from(["gemini-2.5-pro", "gemini-4-neon"]))
def test_gemini_takes_any_history(history, sees, name):
    info = ModelInfo("contract", name, 100_000, 4_096, images=sees)
    body = gemini_body(prompt(history), target_of("gemini", "http://127.0.0.1:1", info=info))

    assert faults("gemini", body) == []
    assert sees or "inline_data" not in str(body)


@MANY
@given(HISTORIES, st.sampled_from(["anthropic", "openai-chat", "openai-responses", "gemini"]))
def test_each_request_begins_as_the_one_before(history, api):
    """Prompt caches live on that: what was sent once is sent the same again."""
    settled = [m for m in history if not isinstance(m, ToolMessage)]
    # One that speaks last would have another side begin.
    settled.append(UserMessage((Text("first"),)))
    before = _turns(api, settled)
    after = _turns(api, [*settled, AssistantMessage((Text("so"),), "end_turn")])

    pictures = sum(
        isinstance(p, Image) for m in settled if isinstance(m, UserMessage) for p in m.content
    )
    assert pictures > 20 or after[: len(before)] == before


def _turns(api, history):
    """Return what a request says of the conversation, without the marks that move on."""
    if api == "anthropic":
        messages = messages_body(prompt(history), target(api, cache="none"))["messages"]
    elif api == "openai-chat":
        dialect = dialect_of("openai", "http://127.0.0.1")
        messages = chat_body(prompt(history), target(api, dialect=dialect))["messages"]
    elif api == "openai-responses":
        messages = responses_body(prompt(history), target(api, reasoning=True))["input"]
    else:
        messages = gemini_body(prompt(history), target(api))["contents"]
    return messages


@pytest.mark.case("session-image-01")
@pytest.mark.parametrize("count", [19, 20, 21, 30, 31])
def test_pictures_past_what_providers_take_are_left_out_in_steps(count):
    """Oldest first, with a word in their place."""
    history = [UserMessage((Text(f"n{n}"), PICTURE)) for n in range(count)]
    messages = chat_body(prompt(history), target("openai-chat"))["messages"]
    kept = [n for n, message in enumerate(messages[1:]) if "image_url" in json.dumps(message)]

    assert len(kept) == {19: 19, 20: 20, 21: 11, 30: 20, 31: 11}[count]
    assert kept[-1] == count - 1


def _kinds(value):
    """Return every ``type`` in a body."""
    if isinstance(value, dict):
        kinds = {value["type"]} if isinstance(value.get("type"), str) else set()
        return kinds.union(*(_kinds(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(_kinds(item) for item in value))
    return set()
