"""What was said last, in short."""

from orchestrator.cli.chat.recalling import LONGEST, Exchange, exchanges, recalled
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.entry import Entry


def entry(role, *content):
    return Entry(EntryId("a"), None, "message", "", {"role": role, "content": list(content)})


def text(words):
    return {"type": "text", "text": words}


CALL = {"type": "tool_call", "id": "c", "name": "bash", "arguments": {}}


def test_exchange_is_what_was_said_and_the_last_answer():
    """Notes of ours before what was said are left out, and so are answers without a text."""
    path = [
        entry("user", text("[a note]"), text("hello")),
        entry("assistant", text("I look"), CALL, CALL),
        Entry(EntryId("t"), None, "message", "", {"role": "tool", "results": []}),
        entry("assistant", text("it is well")),
        Entry(EntryId("m"), None, "model_change", "", {"model": "x"}),
        entry("user", text("more")),
        entry("assistant", CALL),
    ]

    assert exchanges(path) == [Exchange("hello", "it is well", 2), Exchange("more", "", 1)]


def test_nothing_said_shows_nothing():
    assert list(recalled([])) == []


def test_long_texts_are_cut():
    [said, *_, note] = recalled([Exchange("x" * 1000, "a\n" * 100)])

    assert said == ("said", "x" * LONGEST + "…")
    assert note[0] == "note"
