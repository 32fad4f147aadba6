"""The right to write one session file: a kernel lock, and beside it who holds it.

The lock dies with its process, so a lease can be stale only in its description; whoever gets the
lock next writes a new one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import SessionBusy, SessionError
from orchestrator.named_file import opened_regular

_MOST_BYTES = 4096
"""Of a description: a number and a name."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that a lease file names."""

    pid: int
    host: str


class SessionMovedError(SessionError):
    """Raised when a session was replaced, by a change of format say, since it was opened."""


def lock_session(fd: int, path: Path) -> Holder | None:
    """Lock the open session file; return the dead holder it was left by, if any.

    Raises SessionBusy with the holder's name when a live process has it, SessionMovedError when the
    path leads to another file by now.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as err:
        holder = read_holder(path)
        who = f"process {holder.pid} on {holder.host}" if holder else "another process"
        raise SessionBusy(
            f"{path.name}: {who} has this session open",
            hint="end that one, look at it with `glovebox sessions show`, or work on a copy: "
            "`glovebox sessions fork`",
        ) from err
    except OSError as err:
        raise SessionError(f"{path}: the session cannot be locked: {err.strerror}") from err
    if not _is_in_place(fd, path):
        raise SessionMovedError(f"{path}: another file has taken its place")
    left_by = read_holder(path)
    _describe(path)
    return left_by


@contextlib.contextmanager
def held_at_rest(path: Path) -> Iterator[bool]:
    """Keep a session from being opened meanwhile; False where a process has it open already."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            # Where nobody can tell, somebody may have it.
            yield False
            return
        # Another file may have taken its place since it was opened: that one is not held.
        yield _is_in_place(fd, path)
    finally:
        os.close(fd)


def unlock_session(path: Path) -> None:
    """Remove the description; closing the file then gives the lock up."""
    # A description that stays only makes the next opener say that this one did not close.
    with contextlib.suppress(OSError):
        _lease_path(path).unlink(missing_ok=True)


def read_holder(path: Path) -> Holder | None:
    """Return who holds the session or held it last; None when that cannot be told."""
    try:
        with opened_regular(_lease_path(path)) as file:
            data = json.loads(file.read(_MOST_BYTES))
        return Holder(pid=int(data["pid"]), host=str(data["host"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def live_holder(path: Path) -> Holder | None:
    """Return the process that has the session open, None where none is known to; takes no lock."""
    holder = read_holder(path)
    if holder is None or holder.host != socket.gethostname():
        # Another machine's processes cannot be asked for: then what it says is taken for true.
        return holder
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return holder
    return holder


def lock_beside(fd: int, path: Path) -> None:
    """Lock a file that is to take the session's place, before anybody else can see it there."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as err:
        raise SessionError(f"{path}: the session cannot be locked: {err.strerror}") from err


def _is_in_place(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.lstat())
    except OSError:
        return False


def _describe(path: Path) -> None:
    lease = _lease_path(path)
    data = json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
    try:
        lease.unlink(missing_ok=True)
        fd = os.open(lease, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
    except OSError:
        # The lock alone protects the file; without its description a second opener is refused
        # all the same, only not told by whom.
        return


def _lease_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.lease")
