from typing import Any

from orchestrator.model.anthropic_request import FIRST, REDACTED, request_body
from orchestrator.model.client import ModelInfo, Prompt
from orchestrator.schema.message import Image, Message, Text, Thinking, ToolMessage
from tests.support.model_contract import BASH
from tests.support.model_history import PIXEL, asked, call, result, said

INFO = ModelInfo("anthropic", "claude-x", 100_000, 4_096)
CACHE = {"type": "ephemeral"}


def body(*messages: Message, **more: Any) -> dict[str, Any]:
    tools = more.pop("tools", (BASH,))
    return request_body(Prompt(more.pop("system", "Be brief."), messages, tools, **more), INFO)


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
