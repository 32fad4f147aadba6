"""The session's file: whole lines at known places."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.errors import SessionBusy, SessionError
from orchestrator.sessions.writer import SessionFileWriter

from .conftest import file_size_limit


def test_new_file_and_folder_are_the_owners_alone(path: Path) -> None:
    """A conversation is private."""
    SessionFileWriter.create(path).close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_existing_file_is_not_begun_anew(path: Path) -> None:
    """Creating never wipes."""
    SessionFileWriter.create(path).close()

    with pytest.raises(SessionError, match="cannot be made"):
        SessionFileWriter.create(path)


def test_open_file_is_refused_to_others_and_closed_for_them(path: Path) -> None:
    """A refused opener leaves nothing open."""
    first = SessionFileWriter.create(path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(SessionBusy):
        SessionFileWriter.open(path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before

    first.close()
    first.close()

    assert first.is_closed
    SessionFileWriter.open(path).close()


@pytest.mark.parametrize("kind", ["missing", "directory", "link", "pipe"])
def test_thing_that_is_no_file_is_refused(path: Path, kind: str) -> None:
    """Only a regular file is a session, and opening never waits."""
    path.parent.mkdir(parents=True)
    if kind == "directory":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("/etc/hostname")
    elif kind == "pipe":
        os.mkfifo(path)

    with pytest.raises(SessionError):
        SessionFileWriter.open(path)


def test_failed_append_is_overwritten_by_the_next(path: Path) -> None:
    """Half a line of a full disk never stays in the middle."""
    file = SessionFileWriter.create(path)
    file.append(b"x" * 99 + b"\n")
    with file_size_limit(150), pytest.raises(SessionError, match="cannot be written"):
        file.append(b"y" * 99 + b"\n")

    file.append(b"z" * 119 + b"\n")
    file.sync()

    assert file.read() == b"x" * 99 + b"\n" + b"z" * 119 + b"\n"


def test_tail_is_moved_beside_the_file(path: Path) -> None:
    """Nothing is thrown away, and the next line starts on its own."""
    path.parent.mkdir(parents=True)
    path.write_bytes(b"one\ntorn")
    file = SessionFileWriter.open(path)

    said = file.move_tail_aside(4)
    file.append(b"two\n")

    aside = path.parent / f"{path.name}.torn-4"
    assert aside.name in said
    assert aside.read_bytes() == b"torn"
    assert path.read_bytes() == b"one\ntwo\n"


def test_file_that_cannot_be_used_says_so(path: Path) -> None:
    """Every failure of the disk has the session's name on it."""
    path.parent.mkdir(parents=True)
    path.write_bytes(b"one\ntorn")
    writing = SessionFileWriter(path, os.open(path, os.O_WRONLY))
    with pytest.raises(SessionError, match="cannot be read"):
        writing.read()
    with pytest.raises(SessionError, match="cannot be mended"):
        writing.move_tail_aside(4)
    writing.close()

    null = SessionFileWriter(path, os.open(path, os.O_RDONLY))
    with pytest.raises(SessionError, match="cannot be written"):
        null.append(b"x")
    null.close()


def test_closed_file_takes_nothing(path: Path) -> None:
    """What comes after the end is an error, not a loss."""
    file = SessionFileWriter.create(path)
    file.close()

    with pytest.raises(SessionError, match="the session is closed"):
        file.append(b"x")
    with pytest.raises(SessionError, match="the session is closed"):
        file.sync()


def test_crashed_holder_is_mentioned(path: Path) -> None:
    """The next opener hears that the last one did not close."""
    SessionFileWriter.create(path).close()
    (path.parent / f"{path.name}.lease").write_text('{"pid": 4711, "host": "h"}')

    assert SessionFileWriter.open(path).warnings == [
        "process 4711 ended without closing this session"
    ]


def _cut(path: Path) -> None:
    os.truncate(path, 3)


def _grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"somebody else's\n")


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


@pytest.mark.parametrize("meddle", [_cut, _grow, _replace, Path.unlink])
def test_file_that_something_else_changed_is_not_written_to(
    path: Path, meddle: Callable[[Path], None]
) -> None:
    """A lock binds only those who heed it: what they wrote stays, and nothing is lost unseen."""
    file = SessionFileWriter.create(path)
    file.append(b"one line\n")
    meddle(path)
    after = path.read_bytes() if path.exists() else b""

    for write in (lambda: file.append(b"two\n"), file.sync):
        with pytest.raises(SessionError, match="something else changed the file"):
            write()
    assert (path.read_bytes() if path.exists() else b"") == after
    file.close()


def test_rest_of_our_own_failed_write_is_no_meddling(path: Path) -> None:
    """It is overwritten once there is space."""
    file = SessionFileWriter.create(path)
    file.append(b"one\n")
    with file_size_limit(7), pytest.raises(SessionError, match="cannot be written"):
        file.append(b"two and more\n")
    assert path.read_bytes() == b"one\ntwo"
    file.sync()
    file.append(b"two and more\n")
    file.close()

    assert path.read_bytes() == b"one\ntwo and more\n"
