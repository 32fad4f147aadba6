import base64
from typing import Any

import pytest

from orchestrator.model.client import ModelInfo, OutputShape, Prompt
from orchestrator.model.gemini_request import FIRST, SEEN, UNSIGNED, is_new, request_body
from orchestrator.schema.message import Image, Message, Text, Thinking, ToolCall, ToolMessage
from orchestrator.schema.thinking import ThinkingLevel
from tests.support.model_bodies import faults
from tests.support.model_contract import BASH, target_of
from tests.support.model_history import PIXEL, asked, call, result, said

OLD, NEW = "gemini-2.5-pro", "gemini-3.8-flash"
MARK = base64.b64encode(b"sig").decode()
PICTURE = Image("image/png", PIXEL)


def body(*messages: Message, model: str = NEW, **more: Any) -> dict[str, Any]:
    told = {name: more.pop(name) for name in ("thinking_by",) if name in more}
    info = ModelInfo("gemini", model, 100_000, 4_096, thinking=more.pop("can", ()))
    target = target_of("gemini", "http://127.0.0.1:1", info=info, **told)
    tools = more.pop("tools", (BASH,))
    found = request_body(Prompt(more.pop("system", "s"), messages, tools, **more), target)
    assert faults("gemini", found) == []
    return found


@pytest.mark.parametrize(
    ("name", "new"),
    [
        ("gemini-2.5-pro", False),
        ("gemini-2.0-flash", False),
        ("gemini-3-flash-preview", True),
        ("gemini-3.1-pro-preview", True),
        ("gemini-4-neon", True),
        ("gemini-10-x", True),
        ("gemini-live-2.5-flash", False),
        ("gemini-flash-latest", True),
        ("some-other-model", True),
    ],
)
def test_version_is_read_from_the_name(name: str, new: bool) -> None:
    """What names none is the newest: vendors' aliases move forward."""
    assert is_new(ModelInfo("gemini", name, 1, 1)) is new


def test_marks_go_back_as_the_bytes_they_were() -> None:
    """On the very part they came with."""
    turn = said(
        Thinking("hm", "gemini", MARK),
        Text("I look.", MARK),
        ToolCall(call("c1").id, "bash", "{}", {}, MARK),
    )
    parts = body(asked("a"), turn, ToolMessage((result("c1"),)))["contents"][1]["parts"]
    assert [part["thought_signature"] for part in parts] == [b"sig"] * 3
    assert parts[0]["thought"] is True
    assert "thought" not in parts[1]


def test_call_that_nothing_signed_says_so() -> None:
    """A turn that another model began would be refused; the first call of a turn is enough."""
    turn = (said(call("c1"), call("c2")), ToolMessage((result("c1"), result("c2"))))
    parts = body(asked("a"), *turn)["contents"][1]["parts"]
    assert [part.get("thought_signature") for part in parts] == [UNSIGNED, None]
    old = body(asked("a"), *turn, model=OLD)["contents"][1]["parts"]
    assert not any("thought_signature" in part for part in old)


def test_mark_of_another_api_is_none() -> None:
    """It would be refused as no base64."""
    (part,) = body(asked("a"), said(Text("t", "phase:commentary")))["contents"][1]["parts"]
    assert part == {"text": "t"}


def test_ids_are_told_to_models_that_have_them() -> None:
    """Older ones match results by their order and name."""
    turn = (said(call("c1")), ToolMessage((result("c1"),)))
    new, old = body(asked("a"), *turn)["contents"], body(asked("a"), *turn, model=OLD)["contents"]
    assert new[1]["parts"][0]["function_call"]["id"] == "c1"
    assert new[2]["parts"][0]["function_response"]["id"] == "c1"
    assert "id" not in old[1]["parts"][0]["function_call"]
    assert "id" not in old[2]["parts"][0]["function_response"]


def test_picture_of_a_result_is_inside_it_or_after_all_of_them() -> None:
    """Older models take results of text alone, and all results of a turn together."""
    turn = (
        said(call("c1"), call("c2")),
        ToolMessage((result("c1", "", PICTURE), result("c2", "seen", PICTURE))),
    )
    new = body(asked("a"), *turn)["contents"]
    (first, second) = (part["function_response"] for part in new[2]["parts"])
    assert first["response"] == {"output": SEEN}
    assert second["parts"][0]["inline_data"]["data"] == base64.b64decode(PIXEL)
    old = body(asked("a"), *turn, model=OLD)["contents"]
    kinds = [next(iter(part)) for part in old[2]["parts"]]
    assert kinds == ["function_response", "function_response", "inline_data", "inline_data"]


def test_error_of_a_tool_is_an_error() -> None:
    """The model learns that it failed."""
    answer = body(said(call("c1")))["contents"][-1]["parts"][0]["function_response"]
    assert list(answer["response"]) == ["error"]


def test_conversation_begins_with_the_person() -> None:
    """Anything else is refused."""
    assert body(said(Text("hi")))["contents"][0] == {"role": "user", "parts": [{"text": FIRST}]}
    assert body()["contents"][0]["parts"] == [{"text": FIRST}]


def test_sdk_calls_no_tool_and_asks_nothing_by_itself() -> None:
    """Calls run in the box, and every request is counted."""
    config = body(asked("a"))["config"]
    assert config["automatic_function_calling"] == {"disable": True}
    assert config["automatic_continuation"] is False


def test_conclusion_forbids_tools() -> None:
    """They stay named, as the calls before name them."""
    config = body(asked("a"), purpose="conclusion")["config"]
    assert config["tool_config"] == {"function_calling_config": {"mode": "NONE"}}
    assert config["tools"]
    assert "tool_config" not in body(asked("a"))["config"]


def test_form_of_an_answer_stands_beside_tools_in_new_models_alone() -> None:
    """Older ones refuse both together."""
    shape = OutputShape("v", {"type": "object", "properties": {}}, "native")
    new = body(asked("a"), shape=shape, purpose="structured")["config"]
    assert new["response_mime_type"] == "application/json"
    assert new["tool_config"]
    old = body(asked("a"), shape=shape, purpose="structured", model=OLD)["config"]
    assert old["response_json_schema"]
    assert "tools" not in old


@pytest.mark.parametrize(
    ("level", "word"),
    [("minimal", "MINIMAL"), ("medium", "MEDIUM"), ("xhigh", "XHIGH"), ("max", "XHIGH")],
)
def test_level_is_a_word(level: ThinkingLevel, word: str) -> None:
    """The newer models decide themselves how much that is."""
    found = body(asked("a"), can=(level,), thinking=level)["config"]["thinking_config"]
    assert found == {"thinking_level": word, "include_thoughts": True}


def test_budget_is_a_number_within_what_the_api_takes() -> None:
    """Off is none; without a wish nothing is said."""
    can: tuple[ThinkingLevel, ...] = ("off", "low", "max")
    more: dict[str, Any] = {"can": can, "thinking_by": "budget", "model": OLD}
    config = body(asked("a"), thinking="off", **more)["config"]
    assert config["thinking_config"] == {"thinking_budget": 0}
    low = body(asked("a"), thinking="low", **more)["config"]["thinking_config"]
    assert low == {"thinking_budget": 2_048, "include_thoughts": True}
    most = body(asked("a"), thinking="max", **more)["config"]["thinking_config"]
    assert most["thinking_budget"] == 24_576
    assert "thinking_config" not in body(asked("a"), **more)["config"]


def test_two_turns_of_one_side_become_one() -> None:
    """A turn with calls comes right after one of the user, or is refused."""
    results = ToolMessage((result("c1"),))
    found = body(
        asked("a"), asked("b"), said(Text("I look.")), said(call("c1")), results, asked("and?")
    )["contents"]
    assert [content["role"] for content in found] == ["user", "model", "user"]
    assert [len(content["parts"]) for content in found] == [2, 2, 2]
