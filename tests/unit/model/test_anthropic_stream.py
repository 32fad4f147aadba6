from typing import Any

import pytest

from orchestrator.errors import ModelError
from orchestrator.model.anthropic_stream import AnthropicFold
from orchestrator.model.client import Delta, ModelInfo
from orchestrator.schema.message import AssistantMessage, Text, Thinking

INFO = ModelInfo("anthropic", "claude-x", 100_000, 4_096)
END = ({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"})


def folded(*events: dict[str, Any]) -> tuple[AssistantMessage, list[Delta]]:
    fold = AnthropicFold(INFO)
    seen = [delta for event in events for delta in fold.feed(event)]
    return fold.finish(()), seen


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def more(index: int, kind: str, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind} | delta}


def test_thought_keeps_its_signature() -> None:
    """Without it the thought cannot go back."""
    message, seen = folded(
        start(0, type="thinking", thinking="", signature=""),
        more(0, "thinking_delta", thinking="let me"),
        more(0, "signature_delta", signature="sig"),
        start(1, type="redacted_thinking", data="blob"),
        start(2, type="text", text=""),
        more(2, "text_delta", text="hi"),
        *END,
    )
    assert message.content == (
        Thinking("let me", "anthropic", "sig"),
        Thinking("", "anthropic", "redacted:blob"),
        Text("hi"),
    )
    assert seen == [Delta("thinking", "let me"), Delta("text", "hi")]


def test_call_that_came_whole_keeps_its_input() -> None:
    """Some servers send the input with the block's start, some leave it out."""
    message, _ = folded(
        start(0, type="tool_use", id="t1", name="bash", input={"command": "ls"}),
        start(1, type="tool_use", id="t2", name="bash"),
        more(1, "input_json_delta", partial_json='{"command": '),
        more(1, "input_json_delta", partial_json='"pwd"}'),
        *END,
    )
    assert [call.arguments for call in message.tool_calls] == [
        {"command": "ls"},
        {"command": "pwd"},
    ]
    assert message.stop_reason == "tool_use"


def test_counts_are_cumulative() -> None:
    """The last count is the count; a null changes nothing."""
    message, _ = folded(
        {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 7, "input_tokens": None},
        },
        {"type": "message_stop"},
    )
    assert (message.usage.input, message.usage.output) == (9, 7)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "end_turn"),
        ("stop_sequence", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("refusal", "refusal"),
        ("sensitive", "refusal"),
        ("pause_turn", "pause"),
    ],
)
def test_reason_is_translated(reason: str, expected: str) -> None:
    """A cut answer is never a normal end."""
    delta = {"type": "message_delta", "delta": {"stop_reason": reason}}
    message, _ = folded(delta, {"type": "message_stop"})
    assert message.stop_reason == expected


def test_unknown_reason_is_an_end_with_its_word() -> None:
    """The provider said that it stopped: asked again it would say the same."""
    delta = {"type": "message_delta", "delta": {"stop_reason": "bored"}}
    message, _ = folded(start(0, type="text", text="hi"), delta, {"type": "message_stop"})
    assert (message.text, message.stop_reason, message.stop_word) == ("hi", "end_turn", "bored")


def test_full_window_is_a_cut_that_keeps_its_word() -> None:
    """What was said is kept, and the loop can tell it from the output limit."""
    word = "model_context_window_exceeded"
    delta = {"type": "message_delta", "delta": {"stop_reason": word}}
    message, _ = folded(start(0, type="text", text="hi"), delta, {"type": "message_stop"})
    assert (message.text, message.stop_reason, message.stop_word) == ("hi", "max_tokens", word)


@pytest.mark.parametrize("events", [END[:1], END[1:], ()])
def test_end_needs_reason_and_stop(events: tuple[dict[str, Any], ...]) -> None:
    """Half an end is none."""
    with pytest.raises(ModelError) as caught:
        folded(start(0, type="text", text="hello"), *events)
    assert caught.value.kind == "network"


def test_unknown_blocks_and_events_are_passed_over() -> None:
    """A newer API does not break an older client."""
    message, _ = folded(
        {"type": "brand_new"}, start(0, type="server_tool_use", id="s", name="x"), *END
    )
    assert message.content == ()


def test_refusal_tells_why_where_nothing_was_said() -> None:
    """A person learns the provider's reason; words of the model stay the model's."""
    why = {"type": "refusal", "category": "cyber", "explanation": "too risky"}
    delta = {"stop_reason": "refusal", "stop_details": why}
    end = ({"type": "message_delta", "delta": delta}, {"type": "message_stop"})
    assert folded(*end)[0].text == "(refused by the provider: too risky)"
    said = folded(start(0, type="text", text="I will not."), *end)[0]
    assert (said.text, said.stop_reason) == ("I will not.", "refusal")


def test_blocks_of_one_index_are_all_kept() -> None:
    """Some servers give every block the number nought, or none."""

    def piece(kind: str, **more: Any) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": 0, "delta": {"type": kind, **more}}

    message, _ = folded(
        start(0, type="text", text=""), piece("text_delta", text="a"),
        start(0, type="tool_use", id="1", name="x", input={}),
        piece("input_json_delta", partial_json='{"p":1}'),
        {"type": "content_block_start", "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "b"}},
        *END,
    )  # fmt: skip
    assert message.text == "ab"
    assert message.tool_calls[0].arguments == {"p": 1}


@pytest.mark.parametrize("given", [{"p": 1}, '{"p": 1}'])
def test_input_that_came_whole_is_taken(given: object) -> None:
    """As an object, or as its text."""
    message, _ = folded(start(0, type="tool_use", id="1", name="x", input=given), *END)
    assert message.tool_calls[0].arguments == {"p": 1}
