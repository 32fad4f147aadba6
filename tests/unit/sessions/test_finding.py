"""Sessions are found by folder and by the beginning of an id."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.errors import SessionError
from orchestrator.schema.codec import encode_message
from orchestrator.schema.ids import SessionId
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.finding import find_session, first_words, list_sessions

from .conftest import entry, file_of, user


def add(folder: Path, session: str, *, age: int = 0, content: bytes | None = None) -> Path:
    header = SessionHeader(SessionId(session), "/p", "2026-01-02T03:04:05Z")
    path = folder / f"20260102T030405_{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file_of(header=header) if content is None else content)
    os.utime(path, (1_000_000 - age, 1_000_000 - age))
    return path


def test_sessions_are_listed_the_last_written_first(tmp_path: Path) -> None:
    """The one to go on with is on top."""
    add(tmp_path / "a", "aaaaaaaaaaaa", age=5)
    add(tmp_path / "b", "bbbbbbbbbbbb", age=1)

    assert [item.header.id for item in list_sessions(tmp_path)] == ["bbbbbbbbbbbb", "aaaaaaaaaaaa"]
    assert [item.header.id for item in list_sessions(tmp_path / "a")] == ["aaaaaaaaaaaa"]


def test_missing_folder_has_no_sessions(tmp_path: Path) -> None:
    """A new project is not an error."""
    assert list_sessions(tmp_path / "none") == []


def test_other_files_are_left_out_and_a_lost_header_is_not(tmp_path: Path) -> None:
    """A session whose first line is damaged can still be found."""
    add(tmp_path, "aaaaaaaaaaaa", content=b"damage\n")
    (tmp_path / "notes.jsonl").write_bytes(b"{}\n")
    (tmp_path / "deep.jsonl").write_bytes(b"[" * 50_000)
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")

    assert [item.header.id for item in list_sessions(tmp_path)] == ["aaaaaaaaaaaa"]


def test_session_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    """A few digits are enough."""
    path = add(tmp_path / "a", "abc123abc123")
    add(tmp_path / "b", "abd123abc123")

    assert find_session(tmp_path, "abc").path == path


@pytest.mark.parametrize("prefix", ["", "ffff"])
def test_unknown_session_is_an_error(tmp_path: Path, prefix: str) -> None:
    """Nothing is guessed."""
    add(tmp_path, "abc123abc123")

    with pytest.raises(SessionError, match="none has such an id"):
        find_session(tmp_path, prefix)


def test_ambiguous_beginning_is_an_error_that_names_them(tmp_path: Path) -> None:
    """The person chooses."""
    add(tmp_path, "abc123abc123")
    add(tmp_path, "abc999abc999")

    with pytest.raises(SessionError, match="abc999abc999"):
        find_session(tmp_path, "abc")


def test_whole_id_wins_over_longer_ones(tmp_path: Path) -> None:
    """An id that begins another's can still be named."""
    add(tmp_path, "abc123abc123ffff")
    exact = add(tmp_path, "abc123abc123", age=9)

    assert find_session(tmp_path, "abc123abc123").path == exact


def test_first_words_are_what_the_person_said(tmp_path: Path) -> None:
    """A list of ids alone tells nobody anything."""
    path = add(tmp_path, "aaaaaaaaaaaa", content=file_of(entry("mend the test", None)))

    assert first_words(path) == "mend the test"


@pytest.mark.parametrize(
    "content", [b"", b"notes\n", file_of(entry("l", None, type="label", body={}))]
)
def test_session_without_words_has_none(tmp_path: Path, content: bytes) -> None:
    """Nothing said yet, or nothing readable."""
    assert first_words(add(tmp_path, "aaaaaaaaaaaa", content=content)) == ""


def test_title_stands_before_the_first_words(create) -> None:
    """Who gave one wants to see it; what is none is passed over."""
    with create() as store:
        store.append("message", encode_message(user("mend it")))
        store.append("custom", {"kind": "title", "title": 5})
        assert first_words(store.path) == "mend it"
        store.append("custom", {"kind": "title", "title": "The parser"})
        assert first_words(store.path) == "The parser"


def test_two_files_of_one_id_are_named(tmp_path: Path) -> None:
    """Neither is taken by chance."""
    add(tmp_path / "a", "abc123abc123")
    add(tmp_path / "b", "abc123abc123")

    with pytest.raises(SessionError, match="2 files say that they are it: "):
        find_session(tmp_path, "abc123abc123")


def test_folder_that_cannot_be_looked_into_is_told(tmp_path: Path) -> None:
    """It may hold sessions, so there are not none."""
    (tmp_path / "circle").symlink_to("circle")

    with pytest.raises(SessionError, match="sessions cannot be looked for"):
        list_sessions(tmp_path / "circle")
