"""What is old enough, and what a removal leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.config.paths import Paths
from orchestrator.errors import SessionBusy, SessionError
from orchestrator.harness.retention import Removal, check_removable, due, remove_session
from orchestrator.schema.ids import SessionId
from orchestrator.sessions.entry import SessionHeader
from orchestrator.sessions.finding import SessionFile, find_session, list_sessions
from orchestrator.sessions.store import SessionStore

HEADER = SessionHeader(SessionId("0123456789ab"), "/project", "2026-01-02T03:04:05Z")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "state", tmp_path / "config")


@pytest.fixture
def item(paths: Paths) -> SessionFile:
    path = paths.sessions / "p" / "20260102T030405_0123456789ab.jsonl"
    SessionStore.create(path, HEADER).close()
    log = AuditLog.create(
        paths.audit_log(HEADER.id),
        session=HEADER.id,
        genesis={"policy_digest": "", "image_digest": ""},
        signer=Signer.load(paths.keys),
    )
    log.close()
    recorded = paths.recordings(HEADER.id)
    recorded.mkdir(parents=True)
    (recorded / "t.cast").write_text("x")
    return find_session(paths.sessions, HEADER.id)


def aged(*ages: float) -> list[SessionFile]:
    return [SessionFile(Path(f"{age}"), HEADER, 100.0 - age) for age in ages]


@pytest.mark.parametrize(
    ("before", "keep", "ages"),
    [(None, 0, [1, 5, 9]), (96.0, None, [5, 9]), (None, 2, [9]), (96.0, 2, [9]), (96.0, 0, [5, 9])],
)
def test_old_ones_beyond_the_kept_are_due(before, keep, ages) -> None:
    """A bound that is not given does not bind."""
    found = due(aged(1, 5, 9), before=before, keep=keep)

    assert [str(item.path) for item in found] == [str(age) for age in ages]


def test_chain_stays_and_says_so(item: SessionFile, paths: Paths) -> None:
    """Who removed a conversation has not removed the account of it."""
    freed = remove_session(item, paths, Removal())

    assert freed > 0
    assert not item.path.exists()
    assert not paths.recordings(HEADER.id).exists()
    assert '"type":"session_removed"' in paths.audit_log(HEADER.id).read_text()


def test_chain_goes_when_asked_by_name(item: SessionFile, paths: Paths) -> None:
    """Its payloads too."""
    remove_session(item, paths, Removal(audit=True))

    assert list(paths.audit_log(HEADER.id).parent.glob("0123*")) == []


def test_open_session_is_left_whole(item: SessionFile, paths: Paths) -> None:
    """Nothing is gone by half."""
    with SessionStore.open(item.path), pytest.raises(SessionBusy):
        remove_session(item, paths, Removal(changes=True, audit=True))

    assert item.path.exists()
    assert paths.audit_log(HEADER.id).exists()
    assert paths.recordings(HEADER.id).exists()


def test_session_that_is_gone_meanwhile_is_no_failure(item: SessionFile, paths: Paths) -> None:
    """Two that tidy at once both succeed."""
    remove_session(item, paths, Removal())

    assert remove_session(item, paths, Removal()) == 0


def test_session_that_is_open_would_not_be_removed(item: SessionFile, paths: Paths) -> None:
    """What only looks says the same as what acts."""
    with SessionStore.open(item.path), pytest.raises(SessionBusy):
        check_removable(item, paths, Removal())
    check_removable(item, paths, Removal())

    assert item.path.exists()


def test_what_cannot_be_removed_is_whole_and_told(item: SessionFile, paths: Paths) -> None:
    """In words, and nothing beside it is gone."""
    made = item.path.rename(item.path.with_name("there.jsonl"))
    item.path.symlink_to(made)

    with pytest.raises(SessionError, match="cannot be removed: Too many levels"):
        remove_session(item, paths, Removal())
    with pytest.raises(SessionError, match="cannot be removed"):
        check_removable(item, paths, Removal())
    assert made.exists()
    assert paths.recordings(HEADER.id).exists()


@pytest.mark.parametrize("named", ["../../kept", "{kept}"])
def test_file_that_names_a_place_as_its_session_removes_nothing_there(
    item: SessionFile, paths: Paths, tmp_path: Path, named: str
) -> None:
    """A file that somebody gave away may say anything; what is removed is found by its id."""
    kept = tmp_path / "kept"
    (kept / "inner").mkdir(parents=True)
    place = named.format(kept=kept)
    item.path.write_text(item.path.read_text().replace(f'"{HEADER.id}"', f'"{place}"', 1))

    for found in list_sessions(item.path.parent):
        remove_session(found, paths, Removal())

    assert (kept / "inner").exists()


def test_copy_of_a_file_takes_nothing_of_its_original_along(
    item: SessionFile, paths: Paths
) -> None:
    """The original may even be open: only the copy's own file would be held."""
    copy = item.path.with_name("backup.jsonl")
    copy.write_bytes(item.path.read_bytes())
    found = {each.path: each for each in list_sessions(item.path.parent)}

    with SessionStore.open(item.path):
        with pytest.raises(SessionError, match="it may be a copy"):
            remove_session(found[copy], paths, Removal(changes=True, audit=True))
        with pytest.raises(SessionError, match="it may be a copy"):
            check_removable(found[copy], paths, Removal())

    assert paths.recordings(HEADER.id).exists()
    assert paths.audit_log(HEADER.id).exists()


def test_second_file_of_one_id_in_another_folder_takes_nothing_along(
    item: SessionFile, paths: Paths
) -> None:
    """Its name is the original's own; which of the two the box is of, nobody can tell."""
    copy = paths.sessions / "q" / item.path.name
    copy.parent.mkdir()
    copy.write_bytes(item.path.read_bytes())
    twin = next(one for one in list_sessions(copy.parent) if one.path == copy)

    for remove in (remove_session, check_removable):
        with pytest.raises(SessionError, match="two files have this id"):
            remove(twin, paths, Removal(changes=True, audit=True))
    assert item.path.exists()
    assert copy.exists()
    assert paths.audit_log(HEADER.id).exists()

    copy.unlink()
    check_removable(item, paths, Removal())
