"""Edits of the model's view."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from orchestrator.errors import UsageError
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.edits import edit_context, edit_contexts
from orchestrator.sessions.store import SessionStore

from .conftest import assistant, result, tool, user


@pytest.fixture
def store(create: Callable[[], SessionStore]):
    with create() as store:
        yield store


def add(store: SessionStore, message) -> EntryId:
    return store.append("message", encode_message(message))


def last_edit(store: SessionStore) -> dict[str, object]:
    return dict(store.tree.path()[-1].body)


def test_edit_is_on_disk_and_the_message_stays(store: SessionStore) -> None:
    """What was said is never changed."""
    said = add(store, user("long"))
    edit_context(store, said, user("short"))
    assert last_edit(store) == {"target": said, "replacement": encode_message(user("short"))}

    edit_context(store, said, None)
    assert last_edit(store) == {"target": said, "replacement": None}
    assert store.tree.by_id[said].body == encode_message(user("long"))


def test_results_can_be_shortened_but_not_left_out(store: SessionStore) -> None:
    """Else their call would look interrupted."""
    add(store, assistant("", "a"))
    results = add(store, tool(result("a", "x" * 100)))
    edit_context(store, results, tool(result("a", "x")))

    with pytest.raises(UsageError, match="results cannot be left out"):
        edit_context(store, results, None)


@pytest.mark.parametrize("wrong", [user("x"), assistant("x"), assistant("x", "b")])
def test_calls_stay_the_same(store: SessionStore, wrong) -> None:
    """A replacement changes texts alone."""
    calls = add(store, assistant("", "a"))

    with pytest.raises(UsageError, match="same speaker and the same calls"):
        edit_context(store, calls, wrong)


def test_only_messages_of_the_conversation_as_it_stands(store: SessionStore) -> None:
    """An edit on another path would do nothing."""
    first = add(store, user("one"))
    left = add(store, user("left"))
    store.append("leaf", {"target": first})
    note = store.append("custom", {"kind": "x"})

    for target in (left, note, EntryId("gone")):
        with pytest.raises(UsageError, match="expected a message"):
            edit_context(store, target, None)


def test_several_edits_are_made_or_none(store: SessionStore) -> None:
    """One that is refused leaves the conversation as it was."""
    said = add(store, user("long"))
    add(store, assistant("", "a"))
    results = add(store, tool(result("a", "x" * 100)))
    before = store.tree.leaf

    with pytest.raises(UsageError, match="same speaker"):
        edit_contexts(store, [(said, user("short")), (results, tool(result("b", "x")))])
    assert store.tree.leaf == before

    edit_contexts(store, [(said, user("short")), (results, tool(result("a", "x")))])
    assert [entry.body["target"] for entry in store.tree.path()[-2:]] == [said, results]
