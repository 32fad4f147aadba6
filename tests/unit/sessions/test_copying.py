"""Forks and clones: whole in themselves, whatever was left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.schema.codec import encode_message
from orchestrator.sessions.copying import cloned, forked, own_entries
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.labels import labels_of
from orchestrator.sessions.reading import read_content
from orchestrator.sessions.tree import EntryTree

from .conftest import assistant, entry, file_of, result, tool, user


def label(entry_id: str, parent: str, target: str, word: str | None) -> Entry:
    return entry(entry_id, parent, type="label", body={"target": target, "label": word})


def ids(entries: tuple[Entry, ...]) -> list[tuple[str, str | None]]:
    return [(one.id, one.parent) for one in entries]


def test_fork_is_the_branch_alone() -> None:
    """What other branches hold stays behind, and the order is a file's."""
    tree = EntryTree([entry("a", None), entry("b", "a"), entry("c", "a"), entry("d", "c")])

    assert ids(forked(tree, "d")) == [("a", None), ("c", "a"), ("d", "c")]  # type: ignore[arg-type]
    assert forked(tree, None) == ()


def test_labels_come_along_wherever_they_were_given() -> None:
    """A label put later, or on another branch, still names its entry; pi#5669 lost them."""
    tree = EntryTree(
        [
            entry("a", None),
            label("l1", "a", "a", "old"),
            entry("b", "l1"),
            entry("other", "a"),
            label("l2", "other", "a", "new"),
            label("l3", "l2", "other", "left"),
        ]
    )

    copy = forked(tree, "b")  # type: ignore[arg-type]

    assert ids(copy) == [("a", None), ("b", "a"), ("l2", "b")]
    assert labels_of(copy) == {"a": "new"}
    assert EntryTree(copy).messages() == (user("a"), user("b"))


def test_label_that_was_taken_away_stays_away() -> None:
    """Taking it away is the newest word on it."""
    entries = [entry("a", None), label("l1", "a", "a", "x"), label("l2", "l1", "a", None)]

    assert labels_of(forked(EntryTree(entries), "l2")) == {}  # type: ignore[arg-type]


def test_compaction_boundary_moves_to_what_is_there() -> None:
    """pi#8990: a boundary at a label's entry would summarise what was kept word for word."""
    tree = EntryTree(
        [
            entry("a", None),
            label("l", "a", "a", "x"),
            entry("b", "l"),
            entry("k", "b", type="compaction", body={"summary": "S", "first_kept": "l"}),
            entry("c", "k"),
        ]
    )

    copy = forked(tree, "c")  # type: ignore[arg-type]

    assert next(one.body for one in copy if one.id == "k")["first_kept"] == "b"
    assert EntryTree(copy).messages() == EntryTree(tree.path()).messages()


def test_compaction_that_kept_nothing_still_does() -> None:
    """Null stays null."""
    body = {"summary": "S", "first_kept": None}
    tree = EntryTree([entry("a", None), entry("k", "a", type="compaction", body=body)])

    assert forked(tree, "k")[1].body == body  # type: ignore[arg-type]


def test_what_names_another_branch_is_led_or_left() -> None:
    """No id in a copy leads to nothing."""
    tree = EntryTree(
        [
            entry("a", None),
            entry("gone", "a"),
            entry("s", "a", type="branch_summary", body={"summary": "S", "from": "gone"}),
            entry("e", "s", type="context_edit", body={"target": "gone", "replacement": None}),
            entry("f", "e", type="context_edit", body={"target": "a", "replacement": None}),
        ]
    )

    copy = forked(tree, "f")  # type: ignore[arg-type]

    assert ids(copy) == [("a", None), ("s", "a"), ("f", "s")]
    assert copy[1].body == {"summary": "S", "from": None}


def test_calls_that_wait_stay_with_their_session() -> None:
    """Else both would be answered, and what was asked about done twice."""
    tree = EntryTree(
        [
            entry("a", None, body=encode_message(assistant("", "x"))),
            entry("w", "a", type="approval", body={"waiting": ["x"]}),
            entry("r", "w", body=encode_message(tool(result("x")))),
        ]
    )

    assert ids(forked(tree, "r")) == [("a", None), ("r", "a")]  # type: ignore[arg-type]


def test_clone_has_all_branches_and_stands_where_the_session_stood() -> None:
    """Moves are kept, also one to an entry that is left out."""
    tree = EntryTree(
        [
            entry("a", None),
            entry("w", "a", type="approval", body={"waiting": []}),
            entry("b", "w"),
            entry("m", "b", type="leaf", body={"target": "w"}),
            entry("c", "w"),
            entry("n", "c", type="leaf", body={"target": "b"}),
        ]
    )

    copy = EntryTree(cloned(tree))

    assert copy.leaf == "b"
    assert ids(copy.path()) == [("a", None), ("b", "a")]
    assert ids(copy.path("c")) == [("a", None), ("c", "a")]  # type: ignore[arg-type]


def test_own_part_begins_after_the_mark() -> None:
    """What a session's origin had cost is not counted twice."""
    mark = entry("f", "a", type="custom", body={"kind": "fork", "from": "0123"})
    entries = [entry("a", None), mark, entry("b", "f")]

    assert [one.id for one in own_entries(entries)] == ["b"]
    assert own_entries(entries[:1]) == entries[:1]


@given(st.data())
def test_any_copy_is_a_whole_file(data: st.DataObject) -> None:
    """Random trees: reading a copy again mends nothing, and says the same to the model."""
    entries: list[Entry] = []
    for number in range(data.draw(st.integers(1, 12))):
        above = data.draw(st.sampled_from([None, *entries]))
        parent = above.id if above else None
        target = data.draw(st.sampled_from([one.id for one in entries] or ["none"]))
        kind, body = data.draw(
            st.sampled_from(
                [
                    ("message", encode_message(user(f"m{number}"))),
                    ("label", {"target": target, "label": f"n{number}"}),
                    ("leaf", {"target": target}),
                    ("approval", {"waiting": []}),
                    ("compaction", {"summary": "S", "first_kept": parent}),
                ]
            )
        )
        entries.append(entry(f"e{number}", parent, type=kind, body=body))
    tree = EntryTree(entries)

    for copy in (forked(tree, tree.leaf), cloned(tree)):
        content = read_content(file_of(*copy), name="x")
        assert content.warnings == []
        assert EntryTree(content.entries).messages() == tree.messages()
