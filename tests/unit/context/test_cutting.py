"""Where a conversation is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.context.cutting import find_cut
from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import (
    AssistantMessage,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.projection import visible

BIG = "x" * 4000


def seen(kinds):
    """Return a conversation: u said, a answered, c called two tools, r a result."""
    made = {
        "u": UserMessage((Text(BIG),)),
        "a": AssistantMessage((Text(BIG),), "end_turn"),
        "c": AssistantMessage((ToolCall("1", "t", "{}"), ToolCall("2", "t", "{}")), "tool_use"),
        "r": ToolMessage((ToolResult("1", "t", BIG),)),
    }
    entries = [
        Entry(f"e{n}", f"e{n - 1}" if n else None, "message", "", encode_message(made[kind]))
        for n, kind in enumerate(kinds)
    ]
    return visible(entries)


@pytest.mark.case("session-compact-01", "session-compact-02")
@pytest.mark.parametrize(
    ("kinds", "keep", "before"),
    [
        ("uaua", 500, 3),
        ("uaua", 1500, 2),
        ("uaua", 100_000, 0),
        ("uaua", 0, 4),
        ("ucrr", 500, 1),  # the results alone are more: their answer is kept with them
        ("ucrrucr", 500, 5),
        ("ucrrua", 3000, 4),  # between two results of one batch: on to the next valid place
        ("r", 10, 0),
    ],
)
def test_cut_lies_before_an_answer_or_something_said(kinds, keep, before):
    """A batch is kept or summarised together."""
    cut = find_cut(seen(kinds), keep)

    assert (len(cut.before), len(cut.kept)) == (before, len(kinds) - before)


@given(st.text(alphabet="uacr", max_size=20), st.integers(1, 20_000))
def test_kept_part_never_begins_with_results(kinds, keep):
    """Unless there is no call before them at all."""
    cut = find_cut(seen(kinds), keep)

    assert len(cut.before) + len(cut.kept) == len(kinds)
    starts_with_result = bool(cut.kept) and isinstance(cut.kept[0].message, ToolMessage)
    assert not starts_with_result or not cut.before


def test_cut_inside_a_turn_says_so():
    assert find_cut(seen("uaaa"), 500).splits_turn
    assert not find_cut(seen("uaua"), 1500).splits_turn
    assert not find_cut(seen("ua"), 0).splits_turn
