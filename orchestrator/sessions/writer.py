"""The file beneath a session: locked for one writer, grown by whole lines."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from orchestrator.errors import SessionError
from orchestrator.sessions.lease import (
    SessionMovedError,
    lock_beside,
    lock_session,
    unlock_session,
)
from orchestrator.sessions.opened import require_readable

_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

_TRIES = 5


class SessionFileWriter:
    """An open session file under its lease.

    Writes go to the end of what was written whole before, so the torn rest of a failed write is
    overwritten by the next.
    """

    def __init__(self, path: Path, fd: int) -> None:
        """Lock an open file; raises SessionBusy, and closes it, when another process has it."""
        self.path = path
        self.warnings: list[str] = []
        self._fd = fd
        try:
            _require_regular(fd, path)
            left_by = lock_session(fd, path)
            self._size = self._reach = os.fstat(fd).st_size
        except (SessionError, OSError):
            os.close(fd)
            raise
        if left_by is not None:
            self.warnings.append(f"process {left_by.pid} ended without closing this session")

    @classmethod
    def create(cls, path: Path) -> SessionFileWriter:
        """Make the file, mode 0600, in a folder of mode 0700; one that exists is refused."""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
            _sync_directory(path.parent)
        except OSError as err:
            raise SessionError(f"{path}: the session cannot be made: {err.strerror}") from err
        return cls(path, fd)

    @classmethod
    def open(cls, path: Path) -> SessionFileWriter:
        """Open an existing file."""
        for _ in range(_TRIES):
            try:
                return cls(path, os.open(path, _FLAGS))
            except SessionMovedError:
                continue
            except OSError as err:
                raise SessionError(f"{path}: the session cannot be opened: {err.strerror}") from err
        raise SessionError(f"{path}: another file takes its place again and again")

    @property
    def is_closed(self) -> bool:
        """True once the file was given up."""
        return self._fd < 0

    @property
    def size(self) -> int:
        """Bytes that were written whole."""
        return self._size

    def read(self) -> bytes:
        """Return the whole content."""
        try:
            with open(self._fd, "rb", closefd=False) as file:
                require_readable(self._size, self.path)
                file.seek(0)
                return file.read()
        except OSError as err:
            raise SessionError(f"{self.path}: the session cannot be read: {err.strerror}") from err

    def read_at(self, at: int, length: int) -> bytes:
        """Return ``length`` bytes from ``at`` on, fewer where the file ends before."""
        self._require_open()
        try:
            return os.pread(self._fd, length, at)
        except OSError as err:
            raise SessionError(f"{self.path}: the session cannot be read: {err.strerror}") from err

    def append(self, data: bytes) -> None:
        """Write ``data`` after all that was written whole; raises SessionError, and it is not."""
        self._require_own()
        at = self._size
        try:
            view = memoryview(data)
            while view:
                written = os.pwrite(self._fd, view, at)
                at, view = at + written, view[written:]
        except OSError as err:
            self._reach = max(self._reach, at)
            raise SessionError(f"{self.path}: an entry cannot be written: {err.strerror}") from err
        self._size = at
        self._reach = max(self._reach, at)

    def sync(self) -> None:
        """Return when everything written is on disk."""
        self._require_own()
        try:
            os.fsync(self._fd)
        except OSError as err:
            raise SessionError(f"{self.path}: not known to be on disk: {err.strerror}") from err

    def put_in_place(self, data: bytes, backup: Path) -> None:
        """Have ``data`` take the file's place at once or not at all; the old one is ``backup``.

        The lease goes over without a gap. SessionError leaves everything as it was.
        """
        self._require_open()
        fresh, aside = -1, new_name(self.path)
        try:
            fresh = write_aside(aside, data)
            lock_beside(fresh, self.path)
            _keep(self.path, backup)
            aside.replace(self.path)
            _sync_directory(self.path.parent)
        except OSError as err:
            if fresh >= 0:
                os.close(fresh)
            aside.unlink(missing_ok=True)
            raise SessionError(
                f"{self.path}: cannot be brought up to date: {err.strerror}"
            ) from err
        os.close(self._fd)
        self._fd, self._size, self._reach = fresh, len(data), len(data)

    def move_tail_aside(self, size: int) -> str:
        """Cut the file to ``size`` bytes, keep the rest in a file beside it, and say so."""
        aside = self.path.with_name(f"{self.path.name}.torn-{size}")
        try:
            tail = os.pread(self._fd, self._size - size, size)
            fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(tail)
                file.flush()
                os.fsync(fd)
            os.ftruncate(self._fd, size)
        except OSError as err:
            raise SessionError(f"{self.path}: cannot be mended: {err.strerror}") from err
        self._size = self._reach = size
        return f"the unfinished end was moved to {aside.name}"

    def _require_open(self) -> None:
        if self.is_closed:
            raise SessionError(f"{self.path}: the session is closed")

    def _require_own(self) -> None:
        """Raise SessionError where something that heeds no lock has been at the file.

        Else what it wrote would be overwritten, and what is written here would lie in a hole, or in
        a file that nobody finds again.
        """
        self._require_open()
        facts = os.fstat(self._fd)
        if facts.st_nlink and self._size <= facts.st_size <= self._reach:
            return
        got = f"got {facts.st_size}" if facts.st_nlink else "it was removed or replaced"
        raise SessionError(
            f"{self.path}: something else changed the file: expected {self._size} bytes, {got}",
            hint="end this session; what is still readable is there on the next --resume",
        )

    def close(self) -> None:
        """Give the file and its lease up; a second time does nothing."""
        if not self.is_closed:
            unlock_session(self.path)
            os.close(self._fd)
            self._fd = -1


def write_new(path: Path, data: bytes) -> None:
    """Make a session file whole or not at all, mode 0600; one that exists is refused."""
    aside = new_name(path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(write_aside(aside, data))
        try:
            path.hardlink_to(aside)
        finally:
            aside.unlink()
        _sync_directory(path.parent)
    except OSError as err:
        raise SessionError(f"{path}: the session cannot be made: {err.strerror}") from err


def new_name(path: Path) -> Path:
    """Return the name under which a file is written before it takes its place."""
    return path.with_name(f".{path.name}.new")


def write_aside(path: Path, data: bytes) -> int:
    """Write a file, mode 0600, and return it open once it is on disk; a dead one's rest is gone."""
    path.unlink(missing_ok=True)
    fd = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        os.fsync(fd)
    except BaseException:
        os.close(fd)
        path.unlink(missing_ok=True)
        raise
    return fd


def _keep(path: Path, backup: Path) -> None:
    """Give the file a second name; one that an attempt before has left is the same file's."""
    if not (backup.exists() and backup.samefile(path)):
        backup.hardlink_to(path)


def _require_regular(fd: int, path: Path) -> None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        raise SessionError(f"{path}: expected a file, got something else")


def _sync_directory(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
