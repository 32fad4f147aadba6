"""Names for entries."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.errors import UsageError
from orchestrator.schema.codec import encode_message
from orchestrator.sessions.labels import labels_of, set_label
from orchestrator.sessions.store import SessionStore

from .conftest import entry, user


def test_label_is_kept_replaced_and_taken_away(create: Callable[[], SessionStore]) -> None:
    """It is in the file; the newest holds."""
    with create() as store:
        said = store.append("message", encode_message(user("hello")))
        set_label(store, said, " start ")
        set_label(store, said, "begin")
        assert labels_of(store.tree.entries) == {said: "begin"}
    with SessionStore.open(store.path) as again:
        assert labels_of(again.tree.entries) == {said: "begin"}
        set_label(again, said, None)
        assert labels_of(again.tree.entries) == {}
        assert again.messages() == (user("hello"),)


def test_label_of_another_branch_counts() -> None:
    """Names are of the whole session (pi loses them when a branch is left)."""
    entries = [
        entry("a", None),
        entry("b", "a"),
        entry("l", "b", type="label", body={"target": "a", "label": "x"}),
        entry("c", "a"),
    ]

    assert labels_of(entries) == {"a": "x"}


@pytest.mark.parametrize("body", [{}, {"target": 3, "label": "x"}, {"target": "a", "label": 3}])
def test_damaged_label_names_nothing(body: dict[str, object]) -> None:
    """What a file holds is not trusted."""
    assert labels_of([entry("a", None), entry("l", "a", type="label", body=body)]) == {}


@pytest.mark.parametrize("label", ["", "  ", "two\nlines", "x" * 101, "\x1b[2J"])
def test_label_is_one_short_line(create: Callable[[], SessionStore], label: str) -> None:
    """It can be shown anywhere."""
    with create() as store, pytest.raises(UsageError, match="label: expected"):
        set_label(store, store.append("message", encode_message(user("x"))), label)


def test_label_names_one_entry(create: Callable[[], SessionStore]) -> None:
    """So that it can be used in an id's place; the same entry may have it again."""
    with create() as store:
        first = store.append("message", encode_message(user("x")))
        other = store.append("message", encode_message(user("y")))
        set_label(store, first, "here")
        set_label(store, first, "here")
        with pytest.raises(UsageError, match="has it already"):
            set_label(store, other, "here")
        with pytest.raises(UsageError, match="there is none"):
            set_label(store, "gone", "there")  # type: ignore[arg-type]


def test_entry_without_a_name_has_none_to_take_away(create: Callable[[], SessionStore]) -> None:
    """Nobody is told of a name that never was."""
    with create() as store:
        said = store.append("message", encode_message(user("x")))
        with pytest.raises(UsageError, match="has no name that could be taken away"):
            set_label(store, said, None)
        assert len(store.tree.entries) == 1
