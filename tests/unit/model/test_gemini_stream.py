from typing import Any

import pytest
from google.genai.types import GenerateContentResponse

from orchestrator.errors import ModelError
from orchestrator.model.client import Delta, ModelInfo
from orchestrator.model.gemini_stream import GeminiFold
from orchestrator.schema.message import AssistantMessage, Text, Thinking

INFO = ModelInfo("gemini", "gemini-3.8-flash", 100_000, 4_096)


def chunk(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a chunk as the SDK gives it for what the API sends."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    if finish:
        candidate["finishReason"] = finish
    response = GenerateContentResponse.model_validate({"candidates": [candidate], **more})
    return response.model_dump(exclude_none=True)


def folded(*chunks: dict[str, Any]) -> tuple[AssistantMessage, list[Delta]]:
    fold = GeminiFold(INFO)
    seen = [delta for item in chunks for delta in fold.feed(item)]
    return fold.finish(()), seen


CALL = {"functionCall": {"name": "bash", "args": {"command": "ls"}}, "thoughtSignature": "c2ln"}


def test_thought_text_and_call_are_told_apart_and_keep_their_marks() -> None:
    """A mark belongs to its part: the call's is not the thought's."""
    message, seen = folded(
        chunk({"text": "let ", "thought": True}),
        chunk({"text": "me", "thought": True}),
        chunk({"text": "I look."}),
        chunk(CALL, finish="STOP"),
    )
    thought, text, call = message.content
    assert (thought, text) == (Thinking("let me", "gemini"), Text("I look."))
    assert (call.signature, call.id, message.stop_reason) == ("c2ln", "call_1", "tool_use")  # type: ignore[union-attr]
    assert message.tool_calls[0].arguments == {"command": "ls"}
    assert seen[0] == Delta("thinking", "let ")
    assert seen[2:] == [Delta("text", "I look."), Delta("call", '{"command": "ls"}')]


def test_mark_that_comes_after_its_text_is_the_texts() -> None:
    """The API sends it in a last part without any text."""
    message, _ = folded(
        chunk({"text": "It is "}),
        chunk({"text": "done."}),
        chunk({"text": "", "thoughtSignature": "c2ln"}, finish="STOP"),
    )
    assert message.content == (Text("It is done.", "c2ln"),)
    thinking, _ = folded(
        chunk({"text": "hm", "thought": True}),
        chunk({"text": "", "thoughtSignature": "c2ln"}, finish="STOP"),
    )
    assert thinking.content == (Thinking("hm", "gemini", "c2ln"),)


def test_tokens_of_thought_are_output_and_cached_ones_are_not_input() -> None:
    """They are billed as such."""
    counts = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 60,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 7,
    }
    usage = folded(chunk({"text": "a"}, finish="STOP", usageMetadata=counts))[0].usage
    assert (usage.input, usage.cache_read, usage.output) == (40, 60, 12)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("STOP", "end_turn"), ("MAX_TOKENS", "max_tokens"), ("CONTINUATION", "max_tokens")],
)
def test_reason_is_translated(reason: str, expected: str) -> None:
    """A cut answer is never a normal end."""
    assert folded(chunk({"text": "a"}, finish=reason))[0].stop_reason == expected


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "SPII"])
def test_filter_is_a_refusal_that_says_why(reason: str) -> None:
    """What it stopped is kept; where it stopped all, its name is told."""
    assert folded(chunk(finish=reason))[0].text == f"(refused by the provider: {reason})"
    cut = folded(chunk({"text": "a"}, finish=reason))[0]
    assert (cut.text, cut.stop_reason) == ("a", "refusal")


def test_prompt_that_is_blocked_is_a_refusal() -> None:
    """There is no answer at all then, and no reason for its end."""
    feedback = {"prompt_feedback": {"block_reason": "BLOCKLIST"}}
    message, _ = folded(feedback)
    assert message.stop_reason == "refusal"
    assert "BLOCKLIST" in message.text


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("MALFORMED_FUNCTION_CALL", "server"),
        ("OTHER", "server"),
        ("UNEXPECTED_TOOL_CALL", "server"),
        ("MISSING_THOUGHT_SIGNATURE", "bad_request"),
    ],
)
def test_call_that_cannot_be_read_is_a_failure(reason: str, kind: str) -> None:
    """It may go well the second time, unless the request is at fault, and not the sixth."""
    with pytest.raises(ModelError, match=reason) as caught:
        folded(chunk(CALL), chunk(finish=reason))
    assert (caught.value.kind, caught.value.tries) == (kind, 2)


def test_stream_without_a_reason_never_ended() -> None:
    """A half message is dropped."""
    with pytest.raises(ModelError) as caught:
        folded(chunk({"text": "half"}))
    assert caught.value.kind == "network"
    with pytest.raises(ModelError):
        folded()


def test_word_that_only_imitators_use_ends_a_turn_with_calls() -> None:
    """Some servers name the calls as the reason."""
    end = chunk(CALL) | {}
    end["candidates"][0]["finish_reason"] = "FUNCTION_CALL"
    assert folded(end)[0].stop_reason == "tool_use"
