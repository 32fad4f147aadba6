"""Entries as plain text."""

from __future__ import annotations

from orchestrator.schema.codec import encode_message
from orchestrator.sessions.entry_text import role_of, texts_of

from .conftest import assistant, entry, result, tool


def test_every_text_of_a_message_is_there() -> None:
    """What was said, thought, called and returned; never a picture's bytes."""
    body = encode_message(assistant("said", "a"))
    thought = {"type": "thinking", "text": "thought", "provider": "p", "signature": "s"}
    picture = {"type": "image", "media_type": "image/png", "data": "AAAA"}
    body["content"] = [thought, *body["content"], picture]

    assert list(texts_of(entry("a", None, body=body))) == ["thought", "said", "bash {}"]
    output = encode_message(tool(result("a", "one"), result("b", "two")))
    assert list(texts_of(entry("b", None, body=output))) == ["one", "two"]


def test_other_entries_tell_what_people_would_look_for() -> None:
    """A summary, a label, a title; ids and numbers are none."""
    body = {"kind": "title", "title": "The parser", "tokens_before": 5}
    noted = entry("t", None, type="custom", body=body)

    assert list(texts_of(noted)) == ["The parser"]
    assert role_of(noted) == "custom"
    assert role_of(entry("m", None)) == "user"
