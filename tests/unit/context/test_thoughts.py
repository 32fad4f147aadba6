"""Which answers are told without their thoughts."""

from orchestrator.context.thoughts import forget
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import AssistantMessage, Text, Thinking, ToolCall, UserMessage
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.projection import visible
from tests.support.contexts import info_of

THOUGHT = Thinking("hm", "x", "SEAL")
CALL = ToolCall(CallId("1"), "ls", "{}", {})


def forgotten(*contents, model="x/main"):
    """Return what is left of answers with these contents."""
    said = [UserMessage((Text("hi"),))]
    said += [AssistantMessage(tuple(parts), "end_turn", model=model) for parts in contents]
    path = [Entry(f"e{n}", None, "message", "", encode_message(m)) for n, m in enumerate(said)]
    return list(forget(visible(path), info_of()))


def test_thoughts_and_signatures_go_and_what_was_said_and_called_stays():
    signed = ToolCall(CallId("1"), "ls", "{}", {}, "U0lH")
    (item,) = forgotten([THOUGHT, Text("so", "U0lH"), signed])

    assert (item.entry, item.count) == ("e1", 3)
    assert item.message.content == (Text("so"), CALL)


def test_answer_of_thoughts_alone_keeps_them_unsigned():
    """An entry cannot be empty; what nothing signs is never sent."""
    (item,) = forgotten([THOUGHT])

    assert item.message.content == (Thinking("hm", "x", None),)


def test_answers_of_other_models_and_what_is_unsigned_stay_as_they_are():
    assert forgotten([THOUGHT, Text("so")], model="y/other") == []
    assert forgotten([Thinking("hm", "x", None), Text("so", "phase:final_answer"), CALL]) == []
