"""A session as the run uses it: added to, crashed, mended, resumed."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import SessionBusy, SessionError
from orchestrator.schema.codec import encode_message
from orchestrator.schema.message import Message
from orchestrator.sessions.store import SessionStore

from .conftest import HEADER, assistant, file_of, file_size_limit, result, tool, user

Make = Callable[[], SessionStore]


def add(store: SessionStore, message: Message) -> str:
    return store.append("message", encode_message(message))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def test_conversation_is_there_again_after_reopening(create: Make, path: Path) -> None:
    """What was said survives the process."""
    with create() as store:
        add(store, user("hi"))
        add(store, assistant("", "c1"))
        add(store, tool(result("c1")))
        said = store.messages()

    with SessionStore.open(path) as again:
        assert again.messages() == said
        assert again.header == HEADER
        assert again.warnings == []


def test_entry_is_in_the_file_when_append_returns(create: Make, path: Path) -> None:
    """Another process can read it at once."""
    store = create()
    first = add(store, user("one"))
    second = add(store, user("two"))

    assert [(line["id"], line["parent"]) for line in lines(path)[1:]] == [
        (first, None),
        (second, first),
    ]


def test_appending_below_an_earlier_entry_makes_a_branch(create: Make) -> None:
    """The conversation goes on from where it was put; the old branch stays."""
    store = create()
    first = add(store, user("one"))
    second = add(store, user("two"))

    store.append("message", encode_message(user("other")), parent=first)

    assert store.messages() == (user("one"), user("other"))
    assert second in store.tree.by_id


def test_moved_leaf_survives_reopening(create: Make, path: Path) -> None:
    """Where the person went back to is stored."""
    with create() as store:
        first = add(store, user("one"))
        add(store, user("two"))
        store.append("leaf", {"target": first})

    with SessionStore.open(path) as again:
        assert again.messages() == (user("one"),)
        assert again.tree.leaf == first


def test_ids_of_one_instant_are_unique_and_keep_their_order(path: Path) -> None:
    """The clock orders nothing."""
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    store = SessionStore.create(path, HEADER, now=lambda: moment)
    made = [add(store, user(str(at))) for at in range(200)]
    store.close()

    assert len(set(made)) == 200
    assert [one.id for one in SessionStore.open(path).tree.entries] == made


def test_clock_that_jumps_back_changes_no_order(path: Path) -> None:
    """Parents and places in the file count."""
    times = iter([timedelta(hours=1), timedelta(0), timedelta(minutes=1)])
    begin = datetime(2026, 1, 2, tzinfo=UTC)
    store = SessionStore.create(path, HEADER, now=lambda: begin + next(times))
    for text in ("a", "b", "c"):
        add(store, user(text))
    store.close()

    assert SessionStore.open(path).messages() == (user("a"), user("b"), user("c"))


def test_separators_of_other_lines_stay_inside_an_entry(create: Make, path: Path) -> None:
    """Only LF ends a line."""
    text = "a\u2028b\u2029c\u0085d\x0be\x1cf\rg\nh"
    with create() as store:
        add(store, user(text))

    assert len(path.read_bytes().split(b"\n")) == 3
    assert SessionStore.open(path).messages() == (user(text),)


def test_half_an_emoji_is_mended_in_memory_and_in_the_file(create: Make, path: Path) -> None:
    """The next request is as valid as the file."""
    store = create()
    add(store, user("cut \ud83d"))

    assert store.messages() == (user("cut \ufffd"),)
    assert "cut \ufffd" in path.read_text("utf-8")


def test_torn_tail_is_moved_aside_and_the_next_entry_survives(create: Make, path: Path) -> None:
    """Nothing merges with a fragment."""
    with create() as store:
        add(store, user("one"))
    path.write_bytes(path.read_bytes() + b'{"type":"message","id":"f00')

    with SessionStore.open(path) as mended:
        assert any("torn" in warning for warning in mended.warnings)
        assert any("moved to" in warning for warning in mended.warnings)
        add(mended, user("two"))

    with SessionStore.open(path) as again:
        assert again.warnings == []
        assert again.messages() == (user("one"), user("two"))


def test_whole_last_line_without_line_feed_counts(create: Make, path: Path) -> None:
    """The new entry starts on its own line."""
    with create() as store:
        add(store, user("one"))
    path.write_bytes(path.read_bytes()[:-1])

    with SessionStore.open(path) as mended:
        add(mended, user("two"))

    with SessionStore.open(path) as again:
        assert again.warnings == []
        assert again.messages() == (user("one"), user("two"))


@pytest.mark.parametrize("content", [b"", b"\0" * 300])
def test_empty_file_becomes_a_new_session(path: Path, content: bytes) -> None:
    """A crash before the first byte loses nothing but the header."""
    path.parent.mkdir(parents=True)
    path.write_bytes(content)

    with SessionStore.open(path) as store:
        assert any("starts anew" in warning for warning in store.warnings)
        add(store, user("one"))

    with SessionStore.open(path) as again:
        assert again.warnings == []
        assert again.header.id == HEADER.id
        assert again.messages() == (user("one"),)


def test_other_file_is_refused_and_left_as_it_is(path: Path) -> None:
    """A mistaken path costs nothing."""
    path.parent.mkdir(parents=True)
    path.write_bytes(b"my notes\n")

    with pytest.raises(SessionError, match="not a session file"):
        SessionStore.open(path)

    assert path.read_bytes() == b"my notes\n"
    assert len(list(path.parent.iterdir())) == 1


def test_second_opener_is_refused_and_the_file_stays_whole(create: Make, path: Path) -> None:
    """One writer at a time."""
    store = create()
    with pytest.raises(SessionBusy):
        SessionStore.open(path)
    add(store, user("one"))
    store.close()

    assert SessionStore.open(path).messages() == (user("one"),)


def test_full_disk_is_told_at_once_and_loses_nothing(create: Make, path: Path) -> None:
    """Entries wait in memory, in order, until there is space."""
    store = create()
    add(store, user("one"))
    with file_size_limit(path.stat().st_size + 10):
        for at, text in enumerate(("two", "three"), 1):
            with pytest.raises(SessionError, match="cannot be written") as caught:
                add(store, user(text))
            assert f"{at} entries wait in memory" in caught.value.hint
        with pytest.raises(SessionError):
            store.sync()
    assert store.waiting == 2
    assert store.messages() == (user("one"), user("two"), user("three"))

    add(store, user("four"))
    assert store.waiting == 0
    store.close()

    assert SessionStore.open(path).messages() == (
        user("one"), user("two"), user("three"), user("four"),
    )  # fmt: skip


def test_end_on_a_full_disk_says_what_is_lost(create: Make, path: Path) -> None:
    """Nobody is left to write it once there is space."""
    store = create()
    with file_size_limit(path.stat().st_size):
        with pytest.raises(SessionError, match="cannot be written"):
            add(store, user("late"))
        with pytest.raises(SessionError) as caught:
            store.close()

    assert caught.value.hint == "the last 1 entries were never written and are lost now"
    assert SessionStore.open(path).tree.entries == ()


def test_sync_writes_what_waits(create: Make, path: Path) -> None:
    """The run need not wait for the next entry."""
    store = create()
    with file_size_limit(path.stat().st_size), pytest.raises(SessionError):
        add(store, user("one"))

    store.sync()

    assert store.waiting == 0
    assert len(lines(path)) == 2


def test_close_says_when_entries_are_lost_and_gives_the_file_free(create: Make, path: Path) -> None:
    """An end with unsaved entries is an error, not silence."""
    store = create()
    with file_size_limit(path.stat().st_size):
        with pytest.raises(SessionError):
            add(store, user("one"))
        with pytest.raises(SessionError, match="cannot be written"):
            store.close()

    SessionStore.open(path).close()


def test_failed_creation_gives_the_file_free(path: Path) -> None:
    """A header that cannot be written leaves no lock."""
    with file_size_limit(3), pytest.raises(SessionError):
        SessionStore.create(path, HEADER)

    assert path.exists()
    path.write_bytes(b"")
    SessionStore.open(path).close()


def test_entry_without_a_place_is_refused_and_not_kept(create: Make, path: Path) -> None:
    """A mistake of the caller leaves the session as it was."""
    store = create()
    with pytest.raises(SessionError, match="no entry gone"):
        store.append("custom", {}, parent="gone")  # type: ignore[arg-type]
    with pytest.raises(SessionError, match="expected JSON data"):
        store.append("custom", {"x": object()})

    assert store.tree.entries == ()
    assert len(lines(path)) == 1


def test_closing_twice_is_no_error(create: Make) -> None:
    """Clean-up code may run again."""
    store = create()
    store.close()
    store.close()


def test_damage_in_the_middle_is_a_warning(path: Path) -> None:
    """The session goes on."""
    path.parent.mkdir(parents=True)
    path.write_bytes(file_of() + b"damage\n")

    with SessionStore.open(path) as store:
        assert store.warnings == ["line 2: damaged, skipped (6 bytes)"]
