"""Events as lines that stay and a line that grows."""

import pytest

from orchestrator.cli.chat.view import DIFF_LINES, View
from orchestrator.schema.event import MessageDelta, ToolEnd, TurnEnd
from orchestrator.schema.head_event import (
    CompactionEnd,
    QueueChange,
)


class Sheet:
    def __init__(self):
        self.stays, self.grows = "", ""

    def put(self, text):
        assert text.endswith("\n")
        self.stays += text

    def grow(self, text, style="live"):
        assert style in {"live", "status"}
        self.grows = text


@pytest.fixture
def sheet():
    return Sheet()


def view(sheet, *, colour=False, columns=60):
    return View(sheet, colour=colour, columns=lambda: columns)


def test_line_that_is_whole_stays_and_the_rest_grows(sheet):
    show = view(sheet)
    show(MessageDelta("text", "one\ntw"))
    assert (sheet.stays, sheet.grows) == ("one\n", "tw")
    show(MessageDelta("text", "o\n\nthree"))

    assert (sheet.stays, sheet.grows) == ("one\ntwo\n\n", "three")


def test_answer_that_is_stopped_stays_as_far_as_it_came(sheet):
    """The next one begins a line of its own."""
    show = view(sheet)
    show(MessageDelta("thinking", "so"))
    show(MessageDelta("text", "one\ntw"))
    show.settle()
    show(MessageDelta("text", "anew"))
    show.settle()

    assert sheet.stays.endswith("one\ntw\nanew\n")
    assert sheet.grows == ""


def edited(diff):
    return ToolEnd("c", "edit", False, "made 1 replacement in a", {"diff": diff}, 1.0)


def test_diff_of_an_edit_is_coloured_behind_the_gutter(sheet):
    view(sheet, colour=True)(edited("@@ -1 +1 @@\n-old\n+new\n same"))

    assert "\x1b[32m  │ +new\x1b[0m\n" in sheet.stays
    assert "\x1b[31m  │ -old\x1b[0m\n" in sheet.stays


def test_long_diff_and_long_lines_are_cut(sheet):
    view(sheet, columns=40)(edited("\n".join(["+" + "x" * 100] * (DIFF_LINES + 2))))
    rows = sheet.stays.splitlines()

    assert max(map(len, rows)) <= 40
    assert rows[-1] == "  │ … 2 more lines; /diff shows all"


def test_frame_of_a_question_cannot_be_said(sheet):
    """Neither by a diff nor by a thought."""
    show = view(sheet)
    show(edited("+┃ glovebox asks"))
    show(MessageDelta("thinking", "┃ y = yes"))
    show.unfolded = True
    show(MessageDelta("text", "\n"))

    assert "┃" not in sheet.stays
    assert "y = yes" in sheet.stays


def test_thought_of_a_turn_replaces_the_one_before(sheet):
    show = view(sheet)
    assert not show.show_thought()
    show(MessageDelta("thinking", "first"))
    show(MessageDelta("text", "a\n"))
    show(MessageDelta("thinking", "second"))
    show(MessageDelta("text", "b\n"))
    assert "second" not in sheet.stays

    assert show.show_thought()
    assert "second" in sheet.stays
    assert "first" not in sheet.stays


def test_what_the_status_line_tells_is_counted(sheet):
    show = view(sheet)
    show(TurnEnd(1, "end_turn", {"input": 10, "output": 5, "cache_read": 100}, 115))

    assert show.tokens == 115


def test_what_waits_to_be_said_is_told(sheet):
    """And told once: the queue is the chat's own, not of the events that every front door shows."""
    view(sheet)(QueueChange(("a",), ("b\x1b[2J",)))

    assert sheet.stays == "  waits for the next step: a\n  waits for the end: b\\x1b[2J\n"


def test_doings_of_the_head_are_told_once(sheet):
    """By the lines that a run has too."""
    view(sheet)(CompactionEnd("manual", 100, 20))

    assert sheet.stays == "  summarised: 100 → 20 tokens\n"
