"""What a compaction has summarised stays in the file, and is there again when it is asked for."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import SessionError
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.copying import cloned
from orchestrator.sessions.put_away import WORTH, BodyOnDisk
from orchestrator.sessions.store import SessionStore, write_copy

from .conftest import HEADER, assistant, result, tool, user

Make = Callable[[], SessionStore]

LONG = "a long answer " * WORTH


def talk(store: SessionStore, *words: str) -> list[EntryId]:
    return [store.append("message", encode_message(user(f"{word} {LONG}"))) for word in words]


def compact(store: SessionStore, first_kept: EntryId | None) -> EntryId:
    return store.append("compaction", {"summary": "said before", "first_kept": first_kept})


def texts_in(value: Any) -> int:
    """Return the characters of all texts that a value keeps alive."""
    seen, heap, size = set[int](), [value], 0
    while heap:
        item = heap.pop()
        if id(item) in seen or isinstance(item, type) or callable(item):
            continue
        seen.add(id(item))
        size += len(item) if isinstance(item, str) else 0
        heap += gc.get_referents(item)
    return size


def test_what_was_summarised_is_held_by_the_file_only(create: Make) -> None:
    """Memory keeps the short facts of it; what is still told stays whole."""
    with create() as store:
        old, kept = talk(store, "old", "kept")
        bodies = {entry: dict(store.tree.by_id[entry].body) for entry in (old, kept)}

        compact(store, kept)

        body = store.tree.by_id[old].body
        assert isinstance(body, BodyOnDisk)
        assert texts_in(body) < WORTH
        assert body["role"] == "user"
        assert body == bodies[old]
        assert not isinstance(store.tree.by_id[kept].body, BodyOnDisk)


def test_a_jump_to_before_a_compaction_tells_all_again(create: Make) -> None:
    """The conversation of then is read back from the file."""
    with create() as store:
        store.append("message", encode_message(assistant(LONG, "c1")))
        last = store.append("message", encode_message(tool(result("c1", LONG))))
        before = store.messages()
        compact(store, None)

        store.append("leaf", {"target": last})

        assert store.messages() == before


def test_a_reopened_session_holds_what_it_still_tells(create: Make, path: Path) -> None:
    """The same entries are whole, the same on disk, and each body is what it was."""
    with create() as store:
        old, kept = talk(store, "old \ud83d\ude00 é\u2028", "kept")
        compact(store, kept)
        bodies = {entry.id: dict(entry.body) for entry in store.tree.entries}
        told = store.messages()

    with SessionStore.open(path) as again:
        held = {e.id for e in again.tree.entries if isinstance(e.body, BodyOnDisk)}
        assert held == {old}
        assert {entry.id: dict(entry.body) for entry in again.tree.entries} == bodies
        assert again.messages() == told


def test_nothing_is_put_away_before_a_compaction(create: Make) -> None:
    """A session that tells all of itself holds all of itself."""
    with create() as store:
        talk(store, "one", "two")

        assert not any(isinstance(entry.body, BodyOnDisk) for entry in store.tree.entries)


def test_a_copy_has_what_was_put_away(create: Make, path: Path) -> None:
    """A clone's file has each entry whole."""
    with create() as store:
        talk(store, "old")
        compact(store, None)
        said = [dict(entry.body) for entry in store.tree.entries]
        write_copy(path.parent / "copy.jsonl", HEADER, cloned(store.tree))

    with SessionStore.open(path.parent / "copy.jsonl") as copy:
        assert [dict(entry.body) for entry in copy.tree.entries] == said


def test_a_file_that_was_changed_beneath_is_told(create: Make, path: Path) -> None:
    """Bytes that are not the entry's own are never taken for it."""
    with create() as store:
        (old,) = talk(store, "old")
        compact(store, None)
        data = path.read_bytes()
        path.write_bytes(data.replace(old.encode(), b"f" * len(old), 1))

        with pytest.raises(SessionError, match=f"session entry {old}: expected it in the"):
            store.tree.by_id[old].body["content"]


def test_a_body_knows_which_names_it_has(create: Make) -> None:
    """A name that is not there needs no file."""
    with create() as store:
        (old,) = talk(store, "old")
        compact(store, None)
        body = store.tree.by_id[old].body

    assert list(body) == ["role", "content"]
    assert body.get("replacement") is None
    with pytest.raises(SessionError, match="the session is closed"):
        body["content"]
