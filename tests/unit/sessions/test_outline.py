"""The tree on paper: branches whole, the present conversation marked."""

from __future__ import annotations

import pytest

from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import (
    AssistantMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolResult,
    UserMessage,
)
from orchestrator.sessions.outline import outline, summary_of
from orchestrator.sessions.tree import EntryTree

from .conftest import assistant, entry, result, tool


def test_straight_conversation_is_not_indented() -> None:
    """Depth tells branches, not length."""
    tree = EntryTree([entry("a", None), entry("b", "a"), entry("c", "b")])

    assert [(line.entry.id, line.depth, line.on_path) for line in outline(tree)] == [
        ("a", 0, True),
        ("b", 0, True),
        ("c", 0, True),
    ]


def test_branches_are_indented_and_only_the_present_one_is_marked() -> None:
    """Each branch stands whole before the next."""
    tree = EntryTree(
        [entry("a", None), entry("b", "a"), entry("c", "b"), entry("d", "a"), entry("e", "d")]
    )

    assert [(line.entry.id, line.depth, line.on_path) for line in outline(tree)] == [
        ("a", 0, True),
        ("b", 1, False),
        ("c", 1, False),
        ("d", 1, True),
        ("e", 1, True),
    ]


def test_long_conversation_is_laid_out() -> None:
    """No recursion limits a session's length."""
    chain = [entry(f"e{at}", f"e{at - 1}" if at else None) for at in range(5000)]

    assert len(list(outline(EntryTree(chain)))) == 5000


@pytest.mark.parametrize(
    ("message", "summary"),
    [
        (UserMessage((Text("look at"), Image("image/png", "AA=="))), "user: look at [image/png]"),
        (assistant("running", "c1"), "assistant: running [bash {}]"),
        (AssistantMessage((Thinking("hm", "x"),), "end_turn"), "assistant: [thinking] hm"),
        (tool(result("c1", "fine")), "tool: bash: fine"),
        (tool(ToolResult("c1", "bash", "no", is_error=True)), "tool: bash: error: no"),  # type: ignore[arg-type]
    ],
)
def test_message_is_told_in_one_text(message: Message, summary: str) -> None:
    """Who said what, what was called, what came back."""
    assert summary_of(entry("a", None, body=encode_message(message))) == summary


def test_other_entry_is_told_in_words() -> None:
    """Not by the fields of its body, which are for programs."""
    label = entry("a", None, type="label", body={"target": "b", "label": "x"})
    assert summary_of(label) == "b is called x"
