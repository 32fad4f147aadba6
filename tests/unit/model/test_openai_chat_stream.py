from typing import Any

import pytest

from orchestrator.errors import ModelError
from orchestrator.model.client import Delta, ModelInfo
from orchestrator.model.openai_chat_stream import ChatFold
from orchestrator.schema.message import AssistantMessage, Text, Thinking

INFO = ModelInfo("vendor", "m", 100_000, 4_096)


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def folded(*chunks: dict[str, Any]) -> tuple[AssistantMessage, list[Delta]]:
    fold = ChatFold(INFO)
    seen = [delta for item in chunks for delta in fold.feed(item)]
    return fold.finish(()), seen


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_are_kept_with_the_field_they_came_in(name: str) -> None:
    """The vendor that wants them back wants them in the same field."""
    message, seen = folded(
        chunk(**{name: "let "}), chunk(**{name: "me"}), chunk(content="hi"), chunk("stop")
    )
    assert message.content == (Thinking("let me", "vendor", name), Text("hi"))
    assert [delta.kind for delta in seen] == ["thinking", "thinking", "text"]


def test_thought_in_both_fields_is_one_thought() -> None:
    """A server that fills both says the same in both."""
    message, _ = folded(chunk(reasoning_content="a", reasoning="a"), chunk("stop", content="b"))
    assert message.content[0] == Thinking("a", "vendor", "reasoning_content")


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal")],
)
def test_reason_is_translated(reason: str, expected: str) -> None:
    """A cut or filtered answer is never a normal end."""
    assert folded(chunk(content="a"), chunk(reason))[0].stop_reason == expected


@pytest.mark.parametrize("reason", ["abort", "insufficient_system_resource", "error"])
def test_unknown_reason_is_no_end(reason: str) -> None:
    """What says that it broke off is not called finished."""
    with pytest.raises(ModelError, match=reason):
        folded(chunk(reason))


def test_refusal_is_text_and_a_refusal() -> None:
    """The person reads why."""
    message, seen = folded(chunk(refusal="I will not"), chunk("stop"))
    assert (message.text, message.stop_reason) == ("I will not", "refusal")
    assert seen == [Delta("text", "I will not")]


def test_usage_may_come_in_any_chunk() -> None:
    """Some send it last without choices, some inside the last choice."""
    apart, _ = folded(
        chunk("stop"), {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    )
    assert apart.usage.input == 3
    inside = chunk("stop")
    inside["choices"][0]["usage"] = {"prompt_tokens": 4, "completion_tokens": 1}
    assert folded(inside)[0].usage.input == 4


def test_other_choices_are_passed_over() -> None:
    """One answer was asked for."""
    other = {"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": "stop"}]}
    assert folded(other, chunk("stop", content="a"))[0].text == "a"


def test_empty_chunks_are_nothing() -> None:
    """Keep-alives carry nothing."""
    message, seen = folded({}, {"choices": None}, {"choices": [{"delta": None}]}, chunk("stop"))
    assert (message.content, seen) == ((), [])


def test_end_without_reason_is_a_network_failure() -> None:
    """The mark of the end alone does not end an answer."""
    with pytest.raises(ModelError) as caught:
        folded(chunk(content="hello"))
    assert caught.value.kind == "network"


def test_older_form_of_a_call_is_one() -> None:
    """Before there were several calls to an answer."""
    pieces = ({"name": "x", "arguments": '{"p"'}, {"arguments": ":1}"})
    deltas = [chunk(function_call=piece) for piece in pieces]
    (call,) = folded(*deltas, chunk("function_call"))[0].tool_calls
    assert (call.name, call.arguments) == ("x", {"p": 1})


def test_whole_answer_in_one_event_is_an_answer_and_counts_once() -> None:
    """Some stream nothing and send it so; others repeat at the end what they streamed."""
    whole = {"choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "stop"}]}
    assert folded(whole)[0].text == "hi"
    assert folded(chunk(content="hi"), whole)[0].text == "hi"


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"object": "error", "message": "prompt is too long", "code": 400}, "overflow"),
        ({"object": "error", "message": "no", "code": 401}, "auth"),
        ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, "quota"),
        ({"choices": [{"error": {"code": 403, "message": "key"}}]}, "auth"),
        ({"choices": [{"error": {"code": 502, "message": "upstream died"}}]}, "server"),
    ],
)
def test_error_in_any_place_of_an_event_is_an_error(event: dict[str, Any], kind: str) -> None:
    """With its own number, not that of the answer that had begun well."""
    with pytest.raises(ModelError) as caught:
        folded(chunk(content="a"), event)
    assert caught.value.kind == kind


def test_good_word_on_an_answer_is_no_error() -> None:
    good = {"base_resp": {"status_code": 0, "status_msg": ""}}
    assert folded(chunk(content="a"), good, chunk("stop"))[0].text == "a"
