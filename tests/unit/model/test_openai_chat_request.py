from typing import Any

from orchestrator.config.dialect import MaxTokensField
from orchestrator.model.client import Prompt
from orchestrator.model.dialect import Dialect
from orchestrator.model.openai_chat_request import request_body
from orchestrator.schema.message import Image, Message, Text, Thinking, ToolMessage
from tests.support.model_contract import BASH, target_of
from tests.support.model_history import PIXEL, asked, call, result, said

PICTURE = Image("image/png", PIXEL)


def body(*messages: Message, field: MaxTokensField = "max_tokens", **more: Any) -> dict[str, Any]:
    target = target_of("openai-chat", "http://127.0.0.1:1", dialect=Dialect(max_tokens_field=field))
    tools = more.pop("tools", (BASH,))
    return request_body(Prompt(more.pop("system", "s"), messages, tools, **more), target)


def test_limit_goes_into_the_field_the_server_knows() -> None:
    """OpenAI renamed it, others kept the old name."""
    assert body(asked("a"))["max_tokens"] == 4_096
    renamed = body(asked("a"), field="max_completion_tokens")
    assert renamed["max_completion_tokens"] == 4_096
    assert "max_tokens" not in renamed


def test_usage_is_asked_for() -> None:
    """A stream tells no usage unasked."""
    assert body(asked("a"))["stream_options"] == {"include_usage": True}


def test_text_stays_text_and_pictures_make_parts() -> None:
    """Small servers know no parts; only a picture needs them."""
    messages = body(asked("a", "b"), asked("c", PICTURE), system="")["messages"]
    assert messages[0]["content"] == "a\n\nb"
    assert [part["type"] for part in messages[1]["content"]] == ["text", "image_url"]


def test_pictures_of_results_follow_all_results() -> None:
    """Tool messages hold text alone, and nothing may stand between them."""
    turn = said(call("c1"), call("c2"))
    answers = ToolMessage((result("c1", "", PICTURE), result("c2", "two")))
    messages = body(turn, answers, system="")["messages"]
    assert [message["role"] for message in messages] == ["assistant", "tool", "tool", "user"]
    assert messages[1]["content"]
    assert messages[3]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")


def test_thoughts_go_back_beside_calls_alone() -> None:
    """Vendors that want them want them there, and refuse them elsewhere."""
    thought = Thinking("hm", "contract", "reasoning_content")
    with_call, without = body(
        said(thought, call("c1")), said(thought, Text("t"), stop="end_turn"), system=""
    )["messages"][::2]
    assert with_call["reasoning_content"] == "hm"
    assert "reasoning_content" not in without


def test_conclusion_forbids_tools() -> None:
    """A conclusion is words."""
    assert body(asked("a"), purpose="conclusion")["tool_choice"] == "none"
    assert "tools" not in body(asked("a"), purpose="conclusion", tools=())
    assert "tool_choice" not in body(asked("a"))
