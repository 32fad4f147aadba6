"""Which files and which point of the conversation a word stands for."""

import pytest

from orchestrator.errors import UsageError
from orchestrator.harness.rewind_plan import (
    Aim,
    is_target,
    mark_body,
    notes_for_model,
    plan_rewind,
    plan_undo,
)
from orchestrator.harness.rewind_turns import moment_now, snapshot_at, turns_of
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.tree import EntryTree
from orchestrator.workspace.snapshots_words import Moment, Snapshot


def text(words):
    return [{"type": "text", "text": words}]


def tree(*rows):
    """Rows of id, parent, type, body."""
    return EntryTree([Entry(i, parent, kind, "2026", body) for i, parent, kind, body in rows])


def user(i, parent, *words):
    return (i, parent, "message", {"role": "user", "content": [t for w in words for t in text(w)]})


def assistant(i, parent, words="said"):
    return (i, parent, "message", {"role": "assistant", "content": text(words)})


def results(i, parent):
    return (i, parent, "message", {"role": "tool", "results": []})


ROWS = (
    user("u1", None, "first"),
    assistant("a1", "u1"),
    results("t1", "a1"),
    assistant("a2", "t1"),
    results("t2", "a2"),
    assistant("a3", "t2"),
    user("u2", "a3", "[a note]", "second"),
    assistant("a4", "u2"),
    results("t4", "a4"),
)
SNAPSHOTS = (
    Snapshot(1, Moment("start"), ""),
    Snapshot(2, Moment("turn", 1, "a1"), ""),
    Snapshot(3, Moment("turn", 4, "a4"), ""),
)


@pytest.mark.parametrize(
    ("word", "held"),
    [
        ("0", True),
        ("12", True),
        ("s4", True),
        ("123456", False),
        ("0123456789ab", False),
        ("", False),
    ],
)
def test_number_alone_is_a_turn(word, held):
    """A session's id is longer, or has letters."""
    assert is_target(word) is held


def test_turns_end_with_their_results_and_begin_with_the_prompt():
    """The person's words are told, not the notes that stand before them."""
    turns = turns_of(tree(*ROWS))

    assert [(t.entry, t.end) for t in turns] == [
        (None, None),
        ("a1", "t1"),
        ("a2", "t2"),
        ("a3", "a3"),
        ("a4", "t4"),
    ]
    assert [t.words for t in turns] == ["", "first", "said", "said", "second"]
    assert [t.prompted for t in turns] == [False, True, False, False, True]


def test_now_is_the_last_answer():
    """Before any it is the start."""
    assert moment_now(tree()) == Moment("start")
    assert moment_now(tree(*ROWS)) == Moment("turn", 4, "a4")


@pytest.mark.parametrize(("turn", "number"), [(0, 1), (1, 2), (2, 2), (3, 2), (4, 3)])
def test_turn_without_changes_has_the_files_of_the_one_before(turn, number):
    """A snapshot stands until the next."""
    assert snapshot_at(turn, turns_of(tree(*ROWS)), SNAPSHOTS).number == number


def test_files_brought_back_at_a_turn_are_those_of_the_turns_after_it():
    """The turn itself keeps its own; the later one, which changed nothing, has what it found."""
    later = (*ROWS, assistant("a5", "t4"))
    brought = (*SNAPSHOTS, Snapshot(4, Moment("rewound", 4, "a4"), "", restored=1))

    turns = turns_of(tree(*later))

    assert snapshot_at(4, turns, brought).number == 3
    assert snapshot_at(5, turns, brought).number == 4


def test_snapshot_of_another_branch_is_no_turn_of_this_one():
    """It can still be named."""
    branch = tree(*ROWS, ("l", None, "leaf", {"target": "t1"}), assistant("b2", "t1"))

    assert snapshot_at(2, turns_of(branch), SNAPSHOTS).number == 2
    assert plan_rewind("s3", "both", tree=branch, snapshots=SNAPSHOTS) == Aim("both", 4, 3, "t4")


def test_dropped_snapshot_is_said():
    """The conversation can go back without it."""
    with pytest.raises(UsageError, match="not kept any more"):
        plan_rewind("0", "both", tree=tree(*ROWS), snapshots=SNAPSHOTS[1:])

    assert plan_rewind("0", "conversation", tree=tree(*ROWS), snapshots=()) == Aim(
        "conversation", 0, None, None
    )


@pytest.mark.parametrize("word", ["5", "s9", "x", "-1"])
def test_what_is_not_there_is_refused(word):
    """With the way to the list."""
    with pytest.raises(UsageError) as caught:
        plan_rewind(word, "both", tree=tree(*ROWS), snapshots=SNAPSHOTS)

    assert "--list" in caught.value.hint


def test_undo_leads_back_to_where_the_newest_rewind_began():
    """Files, conversation and turn; a rewind of the conversation alone leaves the files."""
    aim = Aim("both", 1, 2, "t1")
    body = mark_body(aim, before=3, leaf="t4", was=4)
    moved = tree(*ROWS, ("l", None, "leaf", {"target": "t1"}), ("c", "t1", "custom", body))

    assert plan_undo(moved) == Aim("both", 4, 3, "t4", undo=True)
    with pytest.raises(UsageError, match="nothing to undo"):
        plan_undo(tree(*ROWS))


@pytest.mark.parametrize("worse", [{"what": "all"}, {"from_turn": "x"}, {"before": []}, {}])
def test_undo_of_a_damaged_rewind_says_so(worse):
    body = mark_body(Aim("both", 2, 1, "t2"), before=3, leaf="t4", was=4)
    damaged = {**body, **worse} if worse else {"kind": body["kind"]}
    with pytest.raises(UsageError, match="damaged"):
        plan_undo(tree(*ROWS, ("c", "t4", "custom", damaged)))


def test_model_is_told_once():
    """What was rewound since the last message; an undone one leaves no word of itself."""
    body = mark_body(Aim("files", 1, 2), before=3, leaf="t4", was=4)
    undone = mark_body(Aim("both", 4, 3, "t4", undo=True), before=4, leaf="c", was=1)
    path = tree(*ROWS, ("c", "t4", "custom", body), ("d", "c", "custom", undone)).path()

    notes = notes_for_model(path)

    assert len(notes) == 1
    assert "files back to the end of turn 1" in notes[0]
    assert (
        notes_for_model(tree(*ROWS, ("c", "t4", "custom", body), user("u3", "c", "x")).path()) == []
    )
