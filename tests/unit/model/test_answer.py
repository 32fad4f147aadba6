import pytest

from orchestrator.model.answer import CallPieces, assemble, single
from orchestrator.model.client import ModelInfo
from orchestrator.schema.message import AssistantMessage, StopReason, Text, Thinking, Usage
from tests.support.model_history import call, said

INFO = ModelInfo("p", "m", 1000, 100)


def made(*pieces: Text | Thinking | CallPieces, stop: StopReason = "end_turn") -> AssistantMessage:
    return assemble(pieces, stop, Usage(), info=INFO, before=(said(call("old")),))


def test_call_gets_an_id_nobody_used() -> None:
    """Ids are unique in a conversation, also where a server counts from one each time."""
    message = made(CallPieces("old", "a", "{}"), CallPieces("", "b", "{}"), CallPieces("x", "c"))
    assert [item.id for item in message.tool_calls] == ["old_2", "call_1", "x"]


def test_empty_text_is_left_out() -> None:
    """No stored block is empty."""
    assert made(Text(""), Thinking("", "p", "sig")).content == (Thinking("", "p", "sig"),)


def test_stop_reason_fits_the_calls() -> None:
    """Servers disagree on what ends a turn with calls."""
    calling = CallPieces("c", "bash", "{}")
    assert made(calling, stop="end_turn").stop_reason == "tool_use"
    assert made(Text("a"), stop="tool_use").stop_reason == "end_turn"
    assert made(calling, stop="max_tokens").stop_reason == "max_tokens"


def test_message_names_its_model() -> None:
    """A thought must find its way back to the model that had it."""
    assert made(Text("a")).model == "p/m"


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ('{}{"p":1}', '{"p": 1}'),
        ('{"p":1}{"p":1}', '{"p": 1}'),
        ("{}{}", "{}"),
        ('{"p":1}', '{"p":1}'),
        ('{"p":1}{"q":2}', '{"p":1}{"q":2}'),
        ('{"p":1}}', '{"p":1}}'),
        ("null", "null"),
        ("nullnull", "nullnull"),
        ("[1]", "[1]"),
        ("{}[1]", "{}[1]"),
        ('{"p":', '{"p":'),
        ("", ""),
    ],
)
def test_object_that_came_twice_is_one(raw: str, kept: str) -> None:
    """An empty one first, or the whole again at the end; two that differ are an error to tell."""
    assert single(raw) == kept
