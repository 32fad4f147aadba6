"""Turns and snapshots as a person sees them."""

from orchestrator.cli.rewind_list import SHOWN, done_words, turn_lines
from orchestrator.harness.rewind_plan import Aim
from orchestrator.harness.rewind_turns import Turn
from orchestrator.workspace.snapshots_words import Moment, Snapshot

TURNS = [
    Turn(0, None, None),
    Turn(1, "a", "t", "2026-01-02T03:04:05.678Z", "say \x1b[31m hello\nworld", prompted=True),
    Turn(2, "b", "b", "2026-01-02T03:04:06.678Z", "x" * 500),
]


def test_line_tells_turn_snapshot_time_counts_and_words():
    """In that order; the person's words have their mark, and nothing acts on the terminal."""
    snapshots = [
        Snapshot(1, Moment("start"), "2026-01-02T03:04:00Z"),
        Snapshot(2, Moment("turn", 1, "a"), "", added=1, modified=2, deleted=3),
    ]

    lines = list(turn_lines(TURNS, snapshots))

    assert lines[0].split() == ["0", "s1", "2026-01-02", "03:04:00", "the", "start"]
    assert lines[1].split()[:7] == ["1", "s2", "2026-01-02", "03:04:05", "+1", "~2", "-3"]
    assert lines[1].endswith(r"» say \x1b[31m hello world")
    assert lines[2].split()[:2] == ["2", "-"]
    assert lines[2].count("x") == SHOWN


def test_snapshots_that_are_no_turn_of_this_conversation_come_last():
    """Each with its reason; what an apply keeps for older ones is nobody's to choose."""
    snapshots = [
        Snapshot(2, Moment("turn", 1, "elsewhere"), ""),
        Snapshot(3, Moment("before", 2, "b"), ""),
        Snapshot(4, Moment("rewound", 1, "a"), "", restored=2),
        Snapshot(5, Moment("below", 1, "a"), ""),
        Snapshot(6, Moment("apply", 1, "a"), ""),
    ]

    lines = list(turn_lines(TURNS, snapshots))

    assert [line.split(maxsplit=1) for line in lines[3:]] == [
        ["other", "snapshots:"],
        ["s2", "turn 1 of a branch that was left"],
        ["s3", "before a rewind at turn 2"],
        ["s4", "s2 brought back"],
        ["s6", "after changes were applied at turn 1"],
    ]


def test_undone_rewind_is_told_as_one():
    """And not in the words of a rewind to where one had been."""
    undone = done_words(Aim("both", 3, 7, undo=True))

    assert done_words(Aim("both", 3, 7)) == "files and conversation are back at the end of turn 3"
    assert done_words(Aim("files", 0, 1)) == "the files are back at the start"
    assert undone == (
        "the newest rewind is undone: files and conversation are as before it, at the end of turn 3"
    )
    assert "the conversation is as before it" in done_words(Aim("conversation", 1, None, undo=True))
