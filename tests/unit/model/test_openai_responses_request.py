import json
from typing import Any

from orchestrator.model.client import Prompt
from orchestrator.model.openai_responses_request import request_body
from orchestrator.schema.message import Image, Message, Text, Thinking, ToolMessage
from tests.support.model_contract import BASH, target_of
from tests.support.model_history import PIXEL, REASONING, asked, call, result, said


def body(*messages: Message, reasoning: bool = True, **more: Any) -> dict[str, Any]:
    target = target_of("openai-responses", "http://127.0.0.1:1", reasoning=reasoning)
    tools = more.pop("tools", (BASH,))
    return request_body(Prompt(more.pop("system", "s"), messages, tools, **more), target)


def test_provider_stores_nothing() -> None:
    """The conversation lives on the host."""
    assert body(asked("a"))["store"] is False


def test_thoughts_are_asked_for_sealed_where_the_model_has_any() -> None:
    """A model that does not reason refuses the question."""
    assert body(asked("a"))["include"] == ["reasoning.encrypted_content"]
    assert "include" not in body(asked("a"), reasoning=False)


def test_reasoning_item_goes_back_as_it_came() -> None:
    """Before the call it led to."""
    items = body(said(Thinking("", "contract", REASONING), call("c1")))["input"]
    assert items[0] == json.loads(REASONING)
    assert items[1]["type"] == "function_call"


def test_signature_that_is_no_reasoning_item_is_left_out() -> None:
    """Another API's signature of the same provider is not sent."""
    for signature in ("reasoning_content", '{"type": "reasoning"}', '"x"', "[]"):
        items = body(said(Thinking("hm", "contract", signature), Text("t")))["input"]
        assert [item.get("role") for item in items] == ["assistant"]


def test_picture_of_a_result_is_part_of_its_output() -> None:
    """Responses takes pictures from tools."""
    picture = Image("image/png", PIXEL)
    items = body(said(call("c1")), ToolMessage((result("c1", "seen", picture),)))["input"]
    assert [part["type"] for part in items[1]["output"]] == ["input_text", "input_image"]


def test_conclusion_forbids_tools() -> None:
    """A conclusion is words."""
    assert body(asked("a"), purpose="conclusion")["tool_choice"] == "none"
    assert "tools" not in body(asked("a"), purpose="summary", tools=())


def test_instructions_are_the_system_prompt() -> None:
    """An empty one is not sent."""
    assert body(asked("a"))["instructions"] == "s"
    assert "instructions" not in body(asked("a"), system="")
