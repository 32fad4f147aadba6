"""One writer a session, and the second is told who."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.errors import SessionBusy, SessionError
from orchestrator.sessions.lease import (
    Holder,
    SessionMovedError,
    held_at_rest,
    live_holder,
    lock_beside,
    lock_session,
    read_holder,
    unlock_session,
)

HOLD = """
import os, sys
from pathlib import Path
from orchestrator.sessions.lease import lock_session
path = Path(sys.argv[1])
lock_session(os.open(path, os.O_RDWR), path)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "session.jsonl"
    file.write_bytes(b"")
    return file


def hold(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_second_process_is_refused_with_the_holders_name(path: Path) -> None:
    """Two writers would tear the session apart."""
    with hold(path) as holder:
        fd = os.open(path, os.O_RDWR)
        with pytest.raises(SessionBusy, match=f"process {holder.pid} on ") as caught:
            lock_session(fd, path)
        os.close(fd)
        holder.kill()

    assert caught.value.hint


def test_lease_of_a_killed_process_is_taken_over(path: Path) -> None:
    """A crash locks nobody out, and is mentioned."""
    with hold(path) as holder:
        holder.kill()
    fd = os.open(path, os.O_RDWR)

    left_by = lock_session(fd, path)

    assert left_by is not None
    assert left_by.pid == holder.pid
    now = read_holder(path)
    assert now is not None
    assert now.pid == os.getpid()
    os.close(fd)


def test_lease_that_was_given_up_leaves_no_trace(path: Path) -> None:
    """A clean end is not mistaken for a crash."""
    fd = os.open(path, os.O_RDWR)
    assert lock_session(fd, path) is None
    unlock_session(path)
    os.close(fd)

    assert read_holder(path) is None
    assert [item.name for item in path.parent.iterdir()] == ["session.jsonl"]


def test_holder_without_description_is_still_refused(path: Path) -> None:
    """The lock counts, not the words beside it."""
    with hold(path) as holder:
        (path.parent / "session.jsonl.lease").write_bytes(b"garbage")
        fd = os.open(path, os.O_RDWR)
        with pytest.raises(SessionBusy, match="another process has this session open"):
            lock_session(fd, path)
        os.close(fd)
        holder.kill()


def test_description_that_cannot_be_written_does_not_unlock(path: Path) -> None:
    """A lease is held even where it cannot be described."""
    (path.parent / "session.jsonl.lease").mkdir()
    first, second = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    lock_session(first, path)

    with pytest.raises(SessionBusy):
        lock_session(second, path)
    unlock_session(path)
    os.close(first)
    os.close(second)


def test_thing_that_cannot_be_locked_says_so(path: Path) -> None:
    """No lock, no writing."""
    with pytest.raises(SessionError, match="cannot be locked"):
        lock_session(2**20, path)


def test_session_at_rest_cannot_be_opened_meanwhile(path: Path) -> None:
    """One that a process has is told of, and left to it."""
    with held_at_rest(path) as resting:
        assert resting
        with path.open("r+b") as file, pytest.raises(SessionBusy):
            lock_session(file.fileno(), path)
    with path.open("r+b") as file:
        lock_session(file.fileno(), path)
        with held_at_rest(path) as resting:
            assert not resting


@pytest.mark.parametrize("replaced", [True, False])
def test_file_that_lost_its_place_is_not_written_to(path: Path, replaced: bool) -> None:
    """Who opened it before it was replaced, or removed, would write where nobody reads."""
    late = os.open(path, os.O_RDWR)
    path.unlink()
    if replaced:
        path.write_bytes(b"new")

    with pytest.raises(SessionMovedError, match="another file"):
        lock_session(late, path)
    os.close(late)
    assert read_holder(path) is None


def test_holder_that_lives_is_told_without_a_lock(path: Path) -> None:
    """A dead one's words are no news; another machine's are taken for true."""
    with hold(path) as holder:
        found = live_holder(path)
        assert found is not None
        assert found.pid == holder.pid
        holder.kill()
        holder.wait()
    assert live_holder(path) is None
    (path.parent / "session.jsonl.lease").write_text('{"pid": 1, "host": "elsewhere.example"}')
    assert live_holder(path) == Holder(1, "elsewhere.example")


def test_fresh_file_is_locked_before_it_is_seen(path: Path) -> None:
    """The place is taken by a file that nobody else can have opened for writing."""
    fresh = os.open(path, os.O_RDWR)
    lock_beside(fresh, path)
    second = os.open(path, os.O_RDWR)

    with pytest.raises(SessionBusy):
        lock_session(second, path)
    with pytest.raises(SessionError, match="cannot be locked"):
        lock_beside(second, path)
    os.close(fresh)
    os.close(second)
