"""Entries beside the messages, told as people say it."""

import pytest

from orchestrator.sessions.entry_words import words_of

from .conftest import entry

USAGE = {"kind": "usage", "model": "m/one", "purpose": "skill", "usage": {"input": 1}}


@pytest.mark.parametrize(
    ("type_", "body", "words"),
    [
        (
            "compaction",
            {"summary": "We mend it.", "from": "a", "files": {"read": []}},
            "summary of what came before: We mend it.",
        ),
        (
            "branch_summary",
            {"summary": "It failed.", "focus": ""},
            "summary of the branch that was left: It failed.",
        ),
        ("model_change", {"model": "m/one", "thinking": "high"}, "model m/one, thinking high"),
        ("model_change", {"model": "m/one", "thinking": None}, "model m/one"),
        ("skill_change", {"skill": "review", "by": "you"}, "skill review (by you)"),
        ("skill_change", {"skill": None, "by": "router"}, "no skill any more (by router)"),
        ("label", {"target": "0123456789ab", "label": "good"}, "012345 is called good"),
        ("label", {"target": "0123456789ab", "label": None}, "012345 has no name any more"),
        ("leaf", {"target": "0123456789ab"}, "goes on from 012345"),
        ("leaf", {"target": None}, "goes on from the beginning"),
        (
            "context_edit",
            {"target": "0123456789ab", "replacement": None},
            "012345 is hidden in what the model is told",
        ),
        ("approval", {"waiting": ["a", "b"]}, "2 calls wait for an answer"),
        ("approval", {"taken_up": ["a"]}, "calls were taken up"),
        ("custom", {"kind": "rewind", "told": "[Back.]", "before": 3}, "[Back.]"),
        ("custom", {"kind": "work", "words": "claude (began)"}, "claude (began)"),
        ("custom", {"kind": "title", "title": "The parser"}, "The parser"),
        ("custom", USAGE, "m/one was asked for: skill"),
        ("custom", {"kind": "something", "deep": {"x": 1}}, "something"),
        ("custom", {}, ""),
    ],
)
def test_entry_is_told_in_words_and_not_in_fields(type_, body, words):
    assert words_of(entry("a", None, type=type_, body=body)) == words


@pytest.mark.parametrize("type_", ["compaction", "model_change", "skill_change", "label", "leaf"])
def test_entry_without_its_fields_is_told_all_the_same(type_):
    """A file may be damaged, or another program's."""
    assert words_of(entry("a", None, type=type_, body={}))
