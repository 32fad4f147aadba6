from dataclasses import replace
from typing import Any

import pytest

from orchestrator.model.anthropic_request import FIRST, REDACTED, request_body
from orchestrator.model.client import ModelInfo, OutputShape, Prompt
from orchestrator.schema.message import Image, Message, Text, Thinking, ToolMessage
from orchestrator.schema.thinking import ThinkingLevel
from tests.support.model_contract import BASH, target_of
from tests.support.model_history import PIXEL, asked, call, result, said

INFO = ModelInfo("anthropic", "claude-x", 100_000, 4_096)
CACHE = {"type": "ephemeral"}


def body(*messages: Message, **more: Any) -> dict[str, Any]:
    tools = more.pop("tools", (BASH,))
    told = {name: more.pop(name) for name in ("cache", "thinking_by") if name in more}
    info = replace(INFO, thinking=more.pop("can", ()))
    target = target_of("anthropic", "http://127.0.0.1:1", info=info, **told)
    return request_body(Prompt(more.pop("system", "Be brief."), messages, tools, **more), target)


def test_system_and_last_two_user_messages_are_cached() -> None:
    """What was sent before is read from the cache the next time."""
    turn = (said(call("c1")), ToolMessage((result("c1", "x"),)))
    found = body(asked("a"), *turn, said(Text("t"), stop="end_turn"), asked("b", "c"))
    assert found["system"][0]["cache_control"] == CACHE
    marks = [
        [part.get("cache_control") for part in message["content"]]
        for message in found["messages"]
        if message["role"] == "user"
    ]
    assert marks == [[None], [CACHE], [None, CACHE]]


def test_no_system_prompt_sends_no_empty_block() -> None:
    """An empty block is refused."""
    assert "system" not in body(asked("a"), system=" ")


def test_error_and_picture_of_a_result_are_sent() -> None:
    """A tool can show, and can fail."""
    picture = Image("image/png", PIXEL)
    found = body(said(call("c1")), ToolMessage((result("c1", "seen", picture),)))
    (block,) = found["messages"][-1]["content"]
    assert [part["type"] for part in block["content"]] == ["text", "image"]
    assert block["content"][1]["source"]["data"] == PIXEL
    assert "is_error" not in block
    orphan = body(said(call("c1")))["messages"][-1]["content"][0]
    assert orphan["is_error"] is True


def test_thoughts_go_back_signed_or_sealed() -> None:
    """A signature goes back unchanged, a sealed thought as what it was."""
    found = body(
        asked("a"),
        said(
            Thinking("hm", "anthropic", "sig"),
            Thinking("", "anthropic", REDACTED + "blob"),
            call("c1"),
        ),
    )
    blocks = found["messages"][1]["content"]
    assert blocks[0] == {"type": "thinking", "thinking": "hm", "signature": "sig"}
    assert blocks[1] == {"type": "redacted_thinking", "data": "blob"}


def test_conversation_begins_with_the_person() -> None:
    """A history cut at its front is still accepted."""
    first = body(said(Text("hello"), stop="end_turn"))["messages"][0]
    assert (first["role"], first["content"][0]["text"]) == ("user", FIRST)
    assert body()["messages"][0]["role"] == "user"


def test_conclusion_forbids_tools_and_keeps_their_definitions() -> None:
    """Without a definition, past calls would be refused."""
    calls = (asked("a"), said(call("c1")), ToolMessage((result("c1"),)))
    given = body(*calls, purpose="conclusion")
    assert given["tool_choice"] == {"type": "none"}
    assert given["tools"][0]["name"] == "bash"
    derived = body(*calls, purpose="summary", tools=())
    assert derived["tools"] == [{"name": "bash", "input_schema": {"type": "object"}}]
    assert derived["tool_choice"] == {"type": "none"}
    assert "tools" not in body(asked("a"), tools=())
    assert "tool_choice" not in body(asked("a"))


def test_cache_is_marked_for_an_hour_or_not_at_all() -> None:
    """As the provider's setting says; what is marked stays the same."""
    long = body(asked("a"), cache="long")
    hour = CACHE | {"ttl": "1h"}
    assert long["system"][0]["cache_control"] == hour
    assert long["messages"][0]["content"][0]["cache_control"] == hour
    assert "cache_control" not in str(body(asked("a"), cache="none"))


def test_tools_are_cached_where_there_is_no_system_prompt() -> None:
    """They come first in what the provider reads."""
    found = body(asked("a"), system="")
    assert found["tools"][-1]["cache_control"] == CACHE


def test_at_most_four_places_are_marked() -> None:
    """The API takes no more."""
    turns = [asked(str(number)) for number in range(9)]
    assert str(body(*turns)).count("cache_control") == 3


CAN: tuple[ThinkingLevel, ...] = ("off", "low", "medium", "high", "xhigh", "max")


@pytest.mark.parametrize(
    ("level", "effort"), [("minimal", "low"), ("medium", "medium"), ("xhigh", "xhigh")]
)
def test_level_is_an_effort(level: ThinkingLevel, effort: str) -> None:
    """The newer models decide themselves how much that is."""
    found = body(asked("a"), can=CAN, thinking=level)
    assert found["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert found["output_config"] == {"effort": effort}


def test_level_off_is_said_and_none_says_nothing() -> None:
    """Without a wish the model keeps its own default; one that must think is given the least."""
    assert body(asked("a"), can=CAN, thinking="off")["thinking"] == {"type": "disabled"}
    assert "output_config" not in body(asked("a"), can=CAN, thinking="off")
    assert "thinking" not in body(asked("a"), can=CAN)
    assert "thinking" not in body(asked("a"), thinking="high")
    assert body(asked("a"), can=CAN[1:], thinking="off")["output_config"] == {"effort": "low"}


def test_budget_leaves_room_for_the_answer() -> None:
    """The older models are told a number, which is part of the answer's limit."""
    low = body(asked("a"), can=CAN, thinking="low", thinking_by="budget")
    assert low["thinking"] == {"type": "enabled", "budget_tokens": 2_048}
    high = body(asked("a"), can=CAN, thinking="high", thinking_by="budget")
    assert high["thinking"]["budget_tokens"] == high["max_tokens"] - 1_024


def test_turn_that_began_without_a_thought_goes_on_without() -> None:
    """With a budget the API refuses calls that no thought stands before."""
    thought = Thinking("hm", "anthropic", "sig")
    results = ToolMessage((result("c1"),))
    bare = body(
        asked("a"), said(call("c1")), results, can=CAN, thinking="low", thinking_by="budget"
    )
    kept = body(
        asked("a"), said(thought, call("c1")), results,
        can=CAN, thinking="low", thinking_by="budget",
    )  # fmt: skip
    assert bare["thinking"] == {"type": "disabled"}
    assert kept["thinking"]["type"] == "enabled"
    later = body(
        asked("a"), said(thought, call("c1")), results, said(call("c2")),
        ToolMessage((result("c2"),)), can=CAN, thinking="low", thinking_by="budget",
    )  # fmt: skip
    assert later["thinking"]["type"] == "enabled", "one thought begins the whole turn"
    told = body(
        asked("a"), said(call("c1")), results, asked("wait"),
        can=CAN, thinking="low", thinking_by="budget",
    )  # fmt: skip
    assert told["thinking"]["type"] == "enabled", "the person began a new turn"
    effort = body(asked("a"), said(call("c1")), results, can=CAN, thinking="low")
    assert effort["thinking"]["type"] == "adaptive"


def test_form_and_effort_stand_side_by_side() -> None:
    """Both are said in one field."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    shape = OutputShape("verdict", schema, "native")
    found = body(asked("a"), can=CAN, thinking="low", shape=shape, purpose="structured")
    assert found["output_config"]["effort"] == "low"
    assert found["output_config"]["format"]["type"] == "json_schema"
    assert found["tool_choice"] == {"type": "none"}
