"""Events in their line form: the contract of every front door."""

import json
from dataclasses import fields

import pytest

from orchestrator.schema import event, head_event
from orchestrator.schema.event import (
    DecisionMade,
    SessionStart,
    ToolEnd,
    encode_event,
    event_kinds,
    event_types,
)
from orchestrator.schema.event_base import Event

DOCUMENTED = {
    "session_start": {"model", "policy", "image", "posture"},
    "turn_start": {"turn"},
    "turn_end": {"turn", "stop_reason", "usage", "cumulative_tokens"},
    "error": {"where", "message", "hint"},
    "message_delta": {"kind", "text"},
    "message_end": {"message"},
    "tool_start": {"call", "name", "arguments"},
    "decision": {"call", "effect", "rule", "layer", "reason", "risks", "span", "answered_by"},
    "approval_request": {"id", "call", "question"},
    "approval_answer": {"id", "answer", "scope", "by"},
    "tool_update": {"call", "text"},
    "tool_end": {"call", "name", "is_error", "output", "details", "duration_ms"},
    "retry": {"attempt", "delay_ms", "reason"},
    "limit": {"kind", "value"},
    "workspace": {"changed"},
    "session_end": {"status", "exit_code", "turns", "usage", "cost_usd"},
}
"""What programs outside rely on; a field may be added, none may go."""


def test_every_documented_event_has_its_fields():
    """Removing or renaming one breaks somebody's program."""
    found = event_types()

    assert DOCUMENTED.keys() <= found.keys()
    assert {kind: names - set(found[kind]) for kind, names in DOCUMENTED.items()} == {
        kind: set() for kind in DOCUMENTED
    }


def is_event(found):
    return isinstance(found, type) and issubclass(found, Event) and found is not Event


def test_every_event_has_a_word_of_its_own():
    """Two events with one word could not be told apart."""
    pages = (event, head_event)
    classes = [found for page in pages for found in vars(page).values() if is_event(found)]

    assert all(found.type for found in classes)
    assert list(event_kinds()) == classes
    assert len(event_types()) == len(classes)


@pytest.mark.parametrize("kind", event_kinds(), ids=lambda kind: kind.type)
def test_no_field_hides_behind_the_line_form(kind):
    """type, seq, time and session belong to the line."""
    assert {item.name for item in fields(kind)}.isdisjoint({"type", "seq", "time", "session"})


def test_line_form_holds_head_and_all_fields():
    """As JSON data, whatever was tuple or mapping."""
    made = DecisionMade("c", "ask", "r", "session", "because", ("upload",), (0, 4), "terminal")

    line = encode_event(made, seq=7, time="2026-01-01T00:00:00Z", session="abc")

    assert json.loads(json.dumps(line)) == {
        "type": "decision",
        "seq": 7,
        "time": "2026-01-01T00:00:00Z",
        "session": "abc",
        "call": "c",
        "effect": "ask",
        "rule": "r",
        "layer": "session",
        "reason": "because",
        "risks": ["upload"],
        "span": [0, 4],
        "answered_by": "terminal",
    }


def test_line_form_shares_nothing_with_the_event():
    """A consumer that changes its line changes nobody else's."""
    details = {"diff": {"a": 1}}
    line = encode_event(ToolEnd("c", "n", False, "o", details, 1.0), seq=0, time="", session="")
    line["details"]["diff"]["a"] = 2

    assert details == {"diff": {"a": 1}}


def test_workspace_and_resumed_have_defaults():
    """They came later."""
    started = SessionStart("m", {}, "i", {})

    assert (started.workspace, started.resumed) == ({}, False)
