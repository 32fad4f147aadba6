"""What each row of the dialect table does to a request and to how an answer is read."""

import pytest

from orchestrator.errors import ModelError
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.model.dialect import Dialect, dialect_names, dialect_of
from orchestrator.model.openai_chat_request import UNDERSTOOD, request_body
from orchestrator.model.openai_chat_stream import ChatFold
from orchestrator.schema.message import Text, Thinking, ToolMessage, UserMessage
from tests.support.model_contract import BASH, target_of
from tests.support.model_history import asked, call, result, said

INFO = ModelInfo("x", "anthropic/some", 100_000, 4_096)
CHAT = (
    asked("look"),
    said(Thinking("hm", "x", "reasoning_content"), call("call_1")),
    ToolMessage((result("call_1"),)),
    asked("and?"),
    said(Thinking("so", "x", "reasoning_content"), Text("done"), stop="end_turn"),
    asked("more"),
)


def body(name, *messages):
    dialect = dialect_of(name, "http://127.0.0.1")
    target = target_of("openai-chat", "http://127.0.0.1:1", info=INFO, dialect=dialect)
    return request_body(Prompt("s", messages or CHAT, (BASH,), cache_key="key"), target)


def those(has):
    return {name for name in dialect_names() if has(body(name))}


def test_only_openai_is_told_to_store_nothing_and_gets_its_own_words():
    """Others refuse fields that they do not know."""
    assert those(lambda b: "store" in b) == {"openai"}
    assert those(lambda b: b["messages"][0]["role"] == "developer") == {"openai"}
    assert those(lambda b: "prompt_cache_key" in b) == {"openai"}
    assert those(lambda b: "strict" in b["tools"][0]["function"]) == {"openai"}
    assert body("openai")["store"] is False


def test_limit_is_in_the_field_that_the_server_knows():
    assert those(lambda b: "max_completion_tokens" in b) == {"openai", "cerebras", "xai", "groq"}
    assert those(lambda b: "max_tokens" in b and "max_completion_tokens" in b) == set()


def test_usage_is_asked_for_but_where_it_comes_unasked():
    assert those(lambda b: "stream_options" not in b) == {"mistral"}


def test_mistral_has_its_own_ids_names_and_order():
    messages = body("mistral")["messages"]

    (made,) = messages[2]["tool_calls"]
    assert len(made["id"]) == 9
    assert made["id"].isalnum()
    assert messages[3] == {
        "role": "tool", "tool_call_id": made["id"], "content": "ok", "name": "bash"
    }  # fmt: skip
    assert messages[4] == {"role": "assistant", "content": UNDERSTOOD}
    assert those(lambda b: "name" in b["messages"][3]) == {"mistral"}


def test_thoughts_go_back_to_the_vendors_that_want_them():
    """DeepSeek wants the field with every answer, also an empty one; most want it beside calls."""
    assert those(
        lambda b: any(
            "reasoning_content" in m and m.get("content") == "done" for m in b["messages"]
        )
    ) == {"deepseek"}
    empty = body("deepseek", asked("a"), said(Text("b"), stop="end_turn"))["messages"][2]
    assert empty["reasoning_content"] == ""


def test_openrouter_marks_the_cache_of_anthropics_models_alone():
    marked = body("openrouter")["messages"]

    assert [at for at, m in enumerate(marked) if "cache_control" in str(m)] == [0, 4, 6]
    assert those(lambda b: "cache_control" in str(b)) == {"openrouter"}


def fold(*chunks, dialect=None):
    folding = ChatFold(ModelInfo("x", "m", 1000, 100), dialect)
    seen = [piece for chunk in chunks for piece in folding.feed(chunk)]
    return folding.finish(()), seen


def chunk(reason=None, usage=None, **delta):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]} | (
        {"usage": usage} if usage else {}
    )


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_text"])
def test_thoughts_are_read_from_any_field_and_remembered_under_it(name):
    message, _ = fold(chunk(**{name: "hm"}), chunk("stop", content="yes"))

    assert message.content[0] == Thinking("hm", "x", name)


def test_content_in_parts_is_read_with_its_thoughts():
    """Mistral's reasoning models stream lists."""
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
    message, seen = fold(
        chunk(content=parts), chunk("stop", content=[{"type": "text", "text": "yes"}])
    )

    assert (message.text, message.content[0].text) == ("yes", "hm")
    assert [piece.kind for piece in seen] == ["thinking", "text"]


@pytest.mark.parametrize(
    "usage",
    [
        {
            "prompt_tokens": 10,
            "completion_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 4},
        },
        {"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 4},
        {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4},
    ],
)
def test_cached_tokens_are_found_where_each_vendor_puts_them(usage):
    message, _ = fold(chunk(content="a"), chunk("stop", usage))

    assert (message.usage.input, message.usage.cache_read, message.usage.output) == (6, 4, 2)


def test_usage_inside_a_choice_counts():
    """Moonshot's way."""
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop",
                         "usage": {"prompt_tokens": 3, "completion_tokens": 1}}]}  # fmt: skip
    message, _ = fold(chunk(content="a"), last)

    assert message.usage.total == 4


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("error", "server"),
        ("insufficient_system_resource", "overloaded"),
        ("network_error", "network"),
    ],
)
def test_answer_that_its_provider_broke_off_is_asked_for_again(reason, kind):
    with pytest.raises(ModelError) as caught:
        fold(chunk(content="half"), chunk(reason))

    assert (caught.value.kind, caught.value.retryable) == (kind, True)


def test_end_without_a_reason_counts_only_where_the_server_never_gives_one():
    lenient = Dialect(finish_optional=True)
    with pytest.raises(ModelError, match="before its finish_reason"):
        fold(chunk(content="a"))

    assert fold(chunk(content="a"), dialect=lenient)[0].stop_reason == "end_turn"
    with pytest.raises(ModelError):
        fold(chunk(), dialect=lenient)


def test_words_that_stand_for_nothing_said_are_a_text():
    """A user turn is never empty."""
    assert UserMessage((Text(UNDERSTOOD),)).content[0].text.strip()
