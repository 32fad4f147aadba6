"""Trees in straight pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.sessions.branches import branches_of, starting_at
from orchestrator.sessions.tree import EntryTree

from .conftest import entry


def shape(tree: EntryTree) -> list[tuple[str | None, list[str]]]:
    return [(one.after, [entry.id for entry in one.entries]) for one in branches_of(tree)]


def test_conversation_comes_first_then_what_was_left() -> None:
    """Each branch says where it goes on from; session-compact-10: the other one is still whole."""
    tree = EntryTree(
        [
            entry("a", None),
            entry("b", "a"),
            entry("c", "b"),
            entry("m", "c", type="leaf", body={"target": "a"}),
            entry("d", "a"),
            entry("k", "d", type="compaction", body={"summary": "S", "first_kept": None}),
        ]
    )

    assert shape(tree) == [(None, ["a", "d", "k"]), ("a", ["b", "c"])]
    assert [one.number for one in starting_at(branches_of(tree))["a"]] == [2]  # type: ignore[index]


def test_branch_stands_as_it_was_left() -> None:
    """Of two ways below it the newer one is its own, the older one a branch of the branch."""
    tree = EntryTree([entry("a", None), entry("b", "a"), entry("c", "a"), entry("d", None)])

    assert shape(tree) == [(None, ["d"]), (None, ["a", "c"]), ("a", ["b"])]


def test_conversation_at_its_very_beginning_is_empty() -> None:
    """What was said is a branch then."""
    tree = EntryTree([entry("a", None), entry("m", "a", type="leaf", body={"target": None})])

    assert shape(tree) == [(None, []), (None, ["a"])]


@given(st.lists(st.integers(-1, 20), min_size=1, max_size=20))
def test_every_entry_is_in_one_branch(parents: list[int]) -> None:
    """Whatever the tree looks like, nothing is lost or told twice."""
    entries = [
        entry(f"e{at}", f"e{parent % at}" if at and parent >= 0 else None)
        for at, parent in enumerate(parents)
    ]
    found = [one.id for branch in branches_of(EntryTree(entries)) for one in branch.entries]

    assert sorted(found) == sorted(one.id for one in entries)
