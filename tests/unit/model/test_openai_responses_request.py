import json
from typing import Any

from orchestrator.model.client import ModelInfo, OutputShape, Prompt
from orchestrator.model.openai_responses_request import _said, request_body
from orchestrator.schema.message import Image, Message, Text, Thinking, ToolMessage
from tests.support.model_contract import BASH, target_of
from tests.support.model_history import PIXEL, REASONING, asked, call, result, said


def body(*messages: Message, reasoning: bool = True, **more: Any) -> dict[str, Any]:
    told = {name: more.pop(name) for name in ("cache", "cache_options") if name in more}
    info = ModelInfo("contract", "mock-model", 100_000, 4_096, thinking=more.pop("can", ()))
    target = target_of(
        "openai-responses", "http://127.0.0.1:1", reasoning=reasoning, info=info, **told
    )
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


def test_answer_names_its_type() -> None:
    """OpenAI needs none, llama.cpp refuses every request that holds an answer without."""
    (item,) = body(said(Text("so"), stop="end_turn"))["input"]
    assert item == {"type": "message", "role": "assistant", "content": "so"}


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


def test_requests_of_a_session_share_their_cache() -> None:
    """The key is the session's, cut to what the API takes; none is made up."""
    assert body(asked("a"), cache_key="s" * 80)["prompt_cache_key"] == "s" * 64
    assert "prompt_cache_key" not in body(asked("a"))


def test_cache_is_kept_longer_in_the_words_of_the_model() -> None:
    """Newer models have options, older ones a retention; short is everybody's default."""
    new = {"cache_options": True}
    assert body(asked("a"), cache="long", **new)["prompt_cache_options"] == {"ttl": "30m"}
    assert body(asked("a"), cache="long")["prompt_cache_retention"] == "24h"
    assert body(asked("a"), cache="none", **new)["prompt_cache_options"] == {"mode": "explicit"}
    assert "prompt_cache" not in str(body(asked("a"), cache="none", cache_key="k"))
    assert "prompt_cache" not in str(body(asked("a"), **new))


def test_level_is_an_effort() -> None:
    """Off is a word of its own; what a model cannot is not asked."""
    can = ("off", "low", "xhigh")
    high = body(asked("a"), can=can, thinking="medium")["reasoning"]
    assert high == {"effort": "xhigh", "summary": "auto"}
    assert body(asked("a"), can=can, thinking="off")["reasoning"] == {"effort": "none"}
    assert "reasoning" not in body(asked("a"), can=can)
    assert "reasoning" not in body(asked("a"), thinking="high")


def test_phase_of_a_text_goes_back_with_it() -> None:
    """The newer models lose the thread without; another mark is none."""
    texts = [Text("a", "phase:commentary"), Text("b", "phase:made-up"), Text("c", "c2ln")]
    found = [openai_item(text) for text in texts]
    assert [item.get("phase") for item in found] == ["commentary", None, None]


def openai_item(text: Text) -> dict[str, Any]:
    item = _said(text)
    assert item is not None
    return item


def test_form_of_an_answer_is_part_of_the_body() -> None:
    """The provider holds to it."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    found = body(asked("a"), shape=OutputShape("v", schema, "native"), purpose="structured")
    assert found["text"]["format"]["strict"] is True
    assert found["tool_choice"] == "none"
