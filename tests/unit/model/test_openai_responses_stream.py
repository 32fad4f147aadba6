import json
from typing import Any

import pytest

from orchestrator.errors import ModelError
from orchestrator.model.client import Delta, ModelInfo
from orchestrator.model.openai_responses_stream import ResponsesFold
from orchestrator.schema.message import AssistantMessage, Text, Thinking

INFO = ModelInfo("openai", "m", 100_000, 4_096)
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "bash",
    "arguments": '{"command": "ls"}',
}


def folded(*events: dict[str, Any]) -> tuple[AssistantMessage, list[Delta]]:
    fold = ResponsesFold(INFO)
    seen = [delta for event in events for delta in fold.feed(event)]
    return fold.finish(()), seen


def done(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "item": item}


def end(*output: dict[str, Any], kind: str = "completed", **more: Any) -> dict[str, Any]:
    response = {"status": kind, "output": list(output)} | more
    return {"type": f"response.{kind}", "response": response}


def test_reasoning_item_is_kept_whole_as_its_signature() -> None:
    """The sealed part comes whole only with the finished item."""
    early = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "half"}
    whole = early | {
        "encrypted_content": "whole",
        "summary": [{"type": "summary_text", "text": "hm"}],
        "status": "completed",
    }
    message, _ = folded(done(whole), done(CALL), end(early, CALL))
    thought = message.content[0]
    assert isinstance(thought, Thinking)
    assert thought.text == "hm"
    kept = json.loads(thought.signature or "")
    assert kept["encrypted_content"] == "whole"
    assert "status" not in kept
    assert message.tool_calls[0].id == "call_1"


def test_unsealed_reasoning_is_shown_and_not_sent_back() -> None:
    """Without its sealed part an item cannot go back."""
    item = {"type": "reasoning", "id": "rs_1", "content": [{"type": "reasoning_text", "text": "a"}]}
    message, _ = folded(end(item, CALL))
    assert message.content[0] == Thinking("a", "openai", None)


def test_items_are_taken_from_their_events_where_the_end_lists_none() -> None:
    """Some servers end with an empty list."""
    message, _ = folded(done(CALL), end())
    assert message.stop_reason == "tool_use"
    assert message.tool_calls[0].arguments == {"command": "ls"}


@pytest.mark.case("session-stream-05")
@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("max_output_tokens", "max_tokens"),
        ("content_filter", "refusal"),
        ("max_messages", "pause"),
    ],
)
def test_incomplete_response_is_a_cut_one(reason: str, expected: str) -> None:
    """A cut answer is no normal end, and its call stays raw."""
    cut = CALL | {"arguments": '{"command": "l', "status": "incomplete"}
    message, _ = folded(end(cut, kind="incomplete", incomplete_details={"reason": reason}))
    assert message.stop_reason == expected
    assert message.tool_calls[0].arguments is None


def test_unknown_cut_is_a_cut_with_its_word() -> None:
    """It says itself that something is missing; one without any reason is a failure."""
    message, _ = folded(end(kind="incomplete", incomplete_details={"reason": "weather"}))
    assert (message.stop_reason, message.stop_word) == ("max_tokens", "weather")
    with pytest.raises(ModelError) as caught:
        folded(end(kind="incomplete", incomplete_details=None))
    assert caught.value.tries == 2


@pytest.mark.parametrize("item", [CALL, {"type": "message", "content": [{"text": "half a"}]}])
@pytest.mark.parametrize(("used", "cut"), [(8, True), (7, False)])
def test_answer_that_filled_its_limit_is_cut_though_called_complete(
    item: dict[str, Any], used: int, *, cut: bool
) -> None:
    """llama.cpp knows no incomplete response."""
    fold = ResponsesFold(INFO, limit=8)
    assert not list(fold.feed(end(item, usage={"input_tokens": 5, "output_tokens": used})))
    assert (fold.finish(()).stop_reason == "max_tokens") is cut


def test_refusal_is_text_and_a_refusal() -> None:
    """The person reads why."""
    item = {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}
    message, _ = folded(end(item))
    assert (message.text, message.stop_reason) == ("no", "refusal")


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (
            {
                "type": "response.failed",
                "response": {"error": {"code": "server_error", "message": "x"}},
            },
            "server",
        ),
        (
            {
                "type": "response.failed",
                "response": {"error": {"code": "rate_limit_exceeded", "message": "x"}},
            },
            "rate_limit",
        ),
        (
            {"type": "error", "code": "context_length_exceeded", "message": "too long"},
            "overflow",
        ),
        ({"type": "response.failed", "response": {}}, "server"),
    ],
)
def test_failure_inside_the_stream_has_its_kind(event: dict[str, Any], kind: str) -> None:
    """A good status does not make a good answer."""
    with pytest.raises(ModelError) as caught:
        folded(event)
    assert caught.value.kind == kind


def test_pieces_are_seen_as_they_come() -> None:
    """Text and thoughts are told apart."""
    message, seen = folded(
        {"type": "response.reasoning_summary_text.delta", "delta": "hm"},
        {"type": "response.output_text.delta", "delta": "hi"},
        end({"type": "message", "content": [{"type": "output_text", "text": "hi"}]}),
    )
    assert seen == [Delta("thinking", "hm"), Delta("text", "hi")]
    assert message.content == (Text("hi"),)


def test_phase_of_a_message_is_kept_as_its_mark() -> None:
    """It has to go back with the text."""
    part = {"type": "output_text", "text": "I look first."}
    item = {"type": "message", "id": "m1", "phase": "commentary", "content": [part]}
    assert folded(end(item))[0].content == (Text("I look first.", "phase:commentary"),)


def test_items_that_the_last_event_leaves_out_are_kept() -> None:
    """Or gives other ids: what was done is done."""
    said = {"type": "message", "id": "m1", "content": [{"type": "output_text", "text": "hi"}]}
    call = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "x", "arguments": "{}"}
    done = [{"type": "response.output_item.done", "item": item} for item in (said, call)]
    for last in ((), ({**said, "id": "other"},), ({**said, "id": "o"}, {**call, "id": "p"})):
        message, _ = folded(*done, end(*last))
        assert (message.text, len(message.tool_calls)) == ("hi", 1)


def test_text_without_any_item_is_still_said() -> None:
    """Some servers send pieces and an end, and no items."""
    piece = {"type": "response.output_text.delta", "delta": "hi"}
    assert folded(piece, end())[0].text == "hi"
