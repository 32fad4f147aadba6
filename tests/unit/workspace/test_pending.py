import pytest

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.pending import session_named, waiting_sessions
from orchestrator.workspace.record import WorkspaceRecord, save_record


def leave(paths, session, directory, started=1):
    folder = paths.work(session)
    folder.mkdir(parents=True)
    record = WorkspaceRecord(
        session=session,
        mode="copy",
        directory=str(directory),
        inode=1,
        uid=1,
        gid=1,
        volume="v",
        image="i",
        started_ns=started,
        disk_bytes=1,
    )
    save_record(folder, record)


def test_sessions_of_a_directory_come_newest_first(paths, tmp_path):
    """A directory below counts as being there, a neighbour does not."""
    here = tmp_path / "here"
    (here / "sub").mkdir(parents=True)
    leave(paths, "a" * 12, here, 1)
    leave(paths, "b" * 12, here, 2)
    leave(paths, "c" * 12, tmp_path / "here-too", 3)

    assert waiting_sessions(paths, here / "sub") == ["b" * 12, "a" * 12]
    assert waiting_sessions(paths, tmp_path) == []


def test_broken_record_does_not_hide_the_others(paths, tmp_path):
    """And can still be named by its whole id."""
    leave(paths, "a" * 12, tmp_path)
    leave(paths, "b" * 12, tmp_path)
    (paths.work("b" * 12) / "workspace.json").write_text("{")

    assert waiting_sessions(paths, tmp_path) == ["a" * 12]
    assert session_named(paths, "b" * 12) == "b" * 12


def test_beginning_of_an_id_names_a_session(paths, tmp_path):
    """When it is one session's only."""
    leave(paths, "aab" + "0" * 9, tmp_path)
    leave(paths, "aac" + "0" * 9, tmp_path)

    assert session_named(paths, "aab") == "aab" + "0" * 9
    for name in ("aa", "b", "../x"):
        with pytest.raises(WorkspaceError, match="expected one"):
            session_named(paths, name)
