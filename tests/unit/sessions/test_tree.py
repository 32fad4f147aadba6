"""Entries in memory: where the conversation stands, and how it got there."""

from __future__ import annotations

import pytest

from orchestrator.errors import SessionError
from orchestrator.sessions.tree import EntryTree

from .conftest import entry, user


def move(entry_id: str, parent: str, target: str | None) -> object:
    return entry(entry_id, parent, type="leaf", body={"target": target})


def ids(tree: EntryTree) -> list[str]:
    return [one.id for one in tree.path()]


def test_empty_tree_stands_nowhere() -> None:
    """A new session has no conversation yet."""
    tree = EntryTree()

    assert tree.leaf is None
    assert tree.path() == ()
    assert tree.messages() == ()


def test_each_entry_becomes_the_leaf() -> None:
    """The conversation stands at what was added last."""
    tree = EntryTree([entry("a", None), entry("b", "a")])

    assert tree.leaf == "b"
    assert ids(tree) == ["a", "b"]
    assert tree.messages() == (user("a"), user("b"))


def test_moving_the_leaf_leaves_the_branch_and_keeps_it() -> None:
    """Going back is stored, and the other branch stays whole."""
    tree = EntryTree([entry("a", None), entry("b", "a"), move("m", "b", "a"), entry("c", "a")])

    assert ids(tree) == ["a", "c"]
    assert [one.id for one in tree.path("b")] == ["a", "b"]  # type: ignore[arg-type]


def test_moving_to_the_start_begins_a_new_root() -> None:
    """A session may hold several conversations."""
    tree = EntryTree([entry("a", None), move("m", "a", None)])

    assert tree.leaf is None
    tree.add(entry("b", None))
    assert ids(tree) == ["b"]


def test_move_to_a_lost_entry_moves_nothing() -> None:
    """Damage does not throw the conversation away."""
    assert EntryTree([entry("a", None), move("m", "a", "gone")]).leaf == "a"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (entry("a", None), "the id is taken"),
        (entry("b", "gone"), "no entry gone to stand on"),
        (move("b", "a", "gone"), "no entry gone to stand on"),
    ],
)
def test_entry_without_a_place_is_refused(bad: object, why: str) -> None:
    """What could not be read back is not taken."""
    tree = EntryTree([entry("a", None)])

    with pytest.raises(SessionError, match=why):
        tree.check(bad)  # type: ignore[arg-type]


def test_entries_keep_their_order() -> None:
    """Order is that of the file, whatever the clock said."""
    late = entry("a", None, time="2026-01-02T04:00:00Z")
    early = entry("b", "a", time="2026-01-02T03:00:00Z")

    assert EntryTree([late, early]).entries == (late, early)
    assert ids(EntryTree([late, early])) == ["a", "b"]
