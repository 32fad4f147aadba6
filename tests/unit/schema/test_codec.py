"""Messages as JSON and back, and arguments as models send them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.schema.codec import (
    MAX_DEPTH,
    decode_message,
    encode_message,
    encode_usage,
    parse_arguments,
)
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

PICTURE = Image("image/png", "aGk=")
MESSAGES = (
    UserMessage((Text("look"), PICTURE)),
    AssistantMessage(
        (
            Thinking("hm", "anthropic", "c2ln"),
            Thinking("hm", "local"),
            Text("I see"),
            ToolCall(CallId("a"), "bash", '{"command": "ls"}', {"command": "ls"}),
            ToolCall(CallId("b"), "bash", '{"command": "l', None),
        ),
        "tool_use",
        Usage(1, 2, 3, 4),
        "anthropic/x",
    ),
    ToolMessage(
        (
            ToolResult(CallId("a"), "bash", "ok", images=(PICTURE,)),
            ToolResult(CallId("b"), "bash", "cut", is_error=True),
        )
    ),
)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_message_comes_back_as_it_was(message):
    """Through real JSON text, every field."""
    assert decode_message(json.loads(json.dumps(encode_message(message)))) == message


def test_malformed_arguments_are_stored_as_they_were_sent():
    """Nothing is mended on the way to disk."""
    call = encode_message(MESSAGES[1])["content"][4]

    assert call == {"type": "tool_call", "id": "b", "name": "bash", "arguments": '{"command": "l'}


@pytest.mark.parametrize(
    "data",
    [
        {"role": "system", "content": []},
        {"role": "user", "content": [{"type": "audio"}]},
        {"role": "assistant", "content": []},
        {"role": "tool"},
        {"content": []},
    ],
    ids=["role", "part", "stop-reason", "results", "no-role"],
)
def test_what_is_no_message_is_refused(data):
    """A reader can tell a damaged entry by one of two errors."""
    with pytest.raises((ValueError, KeyError)):
        decode_message(data)


def test_part_of_another_speaker_is_left_out():
    """A call in a person's message is nobody's call."""
    call = {"type": "tool_call", "id": "a", "name": "bash", "arguments": "{}"}
    text = {"type": "text", "text": "hi"}

    assert decode_message({"role": "user", "content": [call, text]}) == UserMessage((Text("hi"),))


def test_older_messages_without_usage_and_images_are_read():
    """Fields that came later have defaults."""
    said = decode_message({"role": "assistant", "content": [], "stop_reason": "end_turn"})
    told = decode_message(
        {"role": "tool", "results": [{"call": "a", "name": "b", "output": "c", "is_error": 0}]}
    )

    assert said == AssistantMessage((), "end_turn")
    assert told.results[0].is_error is False


def test_usage_is_four_counts_by_name():
    """The same names everywhere."""
    assert encode_usage(Usage(1, 2, 3, 4)) == {
        "input": 1,
        "output": 2,
        "cache_read": 3,
        "cache_write": 4,
    }


@pytest.mark.parametrize("raw", ["", " ", "\n", "{}", " {} "])
def test_nothing_is_an_empty_object(raw):
    """Some servers send no text for a tool without parameters."""
    assert parse_arguments(raw) == {}


@pytest.mark.parametrize(
    "raw",
    ["null", "[]", '"x"', "1", "true", '{"a": ', "{a: 1}", "{} {}", "[" * 100_000, "9" * 5000],
    ids=["null", "list", "text", "number", "bool", "cut", "bare", "two", "deep", "huge"],
)
def test_anything_but_an_object_is_none(raw):
    """And no text makes it raise."""
    assert parse_arguments(raw) is None


def nested(depth):
    """Return an object with ``depth`` containers inside one another, itself the first."""
    return '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


def test_object_that_nests_too_deep_is_none():
    """Whoever walks arguments by recursion is safe."""
    assert parse_arguments(nested(MAX_DEPTH)) is not None
    assert parse_arguments(nested(MAX_DEPTH + 1)) is None
    assert parse_arguments('{"a":' * 900 + "1" + "}" * 900) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_every_reasonable_object_comes_through(value):
    """Whatever a model may mean."""
    assert parse_arguments(json.dumps(value)) == value


@given(st.text(max_size=40))
def test_no_text_makes_it_raise(raw):
    """A model can send anything."""
    found = parse_arguments(raw)

    assert found is None or isinstance(found, dict)


def test_estimated_tokens_stay_marked() -> None:
    """In file, event and record alike; a usage that was reported carries no mark."""
    usage = Usage(1, 2, 3, 4, 6)
    message = AssistantMessage((Text("hi"),), "end_turn", usage, "a/b")
    assert encode_usage(usage)["estimated"] == 6
    assert decode_message(encode_message(message)) == message
    assert usage + usage - usage == usage
