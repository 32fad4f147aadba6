"""The file beneath a chain: one writer, whole appends, on disk before they count."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

from orchestrator.errors import AuditError, AuditUnavailable
from orchestrator.named_file import opened_regular

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


class ChainFile:
    """An exclusively locked file that grows by whole lines.

    After a failed append the file is cut back to what was acknowledged. Where that or an fsync
    fails, nobody knows what is on disk, and the file refuses everything from then on.
    """

    def __init__(self, path: Path, fd: int) -> None:
        """Take over an open, locked descriptor."""
        self.path = path
        self._fd = fd
        self._size = os.fstat(fd).st_size
        self._broken = ""
        self._syncing = threading.Lock()
        self._synced = 0
        """Bytes that are surely on disk."""

    @classmethod
    def create(cls, path: Path) -> ChainFile:
        """Make the file, mode 0600; one that exists is refused."""
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return cls._locked(path, os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as err:
            if path.exists():
                raise AuditError(f"{path}: a chain is there already; resume it instead") from err
            raise _unavailable(path, err) from err

    @classmethod
    def open(cls, path: Path) -> ChainFile:
        """Open an existing chain for its one writer."""
        try:
            return cls._locked(path, os.open(path, _FLAGS))
        except FileNotFoundError as err:
            raise AuditError(f"{path}: there is no chain to resume") from err
        except OSError as err:
            raise _unavailable(path, err) from err

    @classmethod
    def _locked(cls, path: Path, fd: int) -> ChainFile:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            sync_directory(path.parent)
            return cls(path, fd)
        except OSError as err:
            os.close(fd)
            held = isinstance(err, BlockingIOError)
            raise (
                AuditUnavailable(f"{path}: another process writes this chain")
                if held
                else _unavailable(path, err)
            ) from err

    @property
    def is_closed(self) -> bool:
        """True once the file was given up."""
        return self._fd < 0

    def lines(self) -> list[bytes]:
        """Return the lines with their line feeds; the last may lack one."""
        try:
            with open(self._fd, "rb", closefd=False) as file:
                file.seek(0)
                return file.readlines()
        except OSError as err:
            raise _unavailable(self.path, err) from err

    def cut_tail(self, count: int) -> None:
        """Drop the last ``count`` bytes."""
        try:
            os.ftruncate(self._fd, self._size - count)
            os.fsync(self._fd)
        except OSError as err:
            raise _unavailable(self.path, err) from err
        self._size -= count

    def append(self, data: bytes) -> None:
        """Return when ``data`` is on disk; otherwise raise, and none of it is."""
        self.write(data)
        self.sync()

    def write(self, data: bytes) -> None:
        """Return when the kernel has ``data``; otherwise raise, and none of it is in the file.

        It outlives this process then, and after ``sync`` the machine. One caller at a time.
        """
        self._require_ours()
        try:
            _write_all(self._fd, data)
        except OSError as err:
            self._take_back(err)
            raise _unavailable(self.path, err) from err
        self._size += len(data)

    def sync(self) -> None:
        """Return when all that was written before the call is on disk; any thread may call it."""
        wanted = self._size
        with self._syncing:
            if self._broken:
                raise AuditUnavailable(f"{self.path}: {self._broken}")
            if self._synced >= wanted:
                # Who waited for another one's has it.
                return
            self.require_open()
            reached = self._size
            try:
                os.fsync(self._fd)
            except OSError as err:
                # After a failed fsync the kernel may have dropped the pages: a later success lies.
                self._broken = f"fsync failed: {err.strerror}"
                raise _unavailable(self.path, err) from err
            self._synced = reached

    def close(self) -> None:
        """Give the file and its lock up; a second time does nothing."""
        with self._syncing:
            if not self.is_closed:
                os.close(self._fd)
                self._fd = -1

    def abandon(self) -> None:
        """Give the file up, and remove it when nothing was ever written to it."""
        if not self._size:
            self.path.unlink(missing_ok=True)
        self.close()

    def require_open(self) -> None:
        """Raise AuditUnavailable once the file was given up."""
        if self.is_closed:
            raise AuditUnavailable(f"{self.path}: the chain is closed")

    def _require_ours(self) -> None:
        self.require_open()
        if self._broken:
            raise AuditUnavailable(f"{self.path}: {self._broken}")
        try:
            ours, there = os.fstat(self._fd), self.path.lstat()
        except OSError as err:
            raise _unavailable(self.path, err) from err
        if not os.path.samestat(ours, there):
            raise AuditUnavailable(f"{self.path}: the file was moved away and replaced")
        if ours.st_size != self._size:
            raise AuditUnavailable(
                f"{self.path}: expected {self._size} bytes, got {ours.st_size}: "
                "something else wrote to the chain"
            )

    def _take_back(self, cause: OSError) -> None:
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            self._broken = f"an append failed half way: {cause.strerror}"


def sync_directory(path: Path) -> None:
    """Put the directory's entries on disk."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _unavailable(path: Path, err: OSError) -> AuditUnavailable:
    return AuditUnavailable(
        f"{path}: the audit log cannot be written: {err.strerror}",
        hint="without a record nothing runs; free space or mend the state directory, then resume",
    )


def is_unbegun(path: Path) -> bool:
    """Say whether a chain's file is there without one whole line; AuditError where it is unreadable.

    A process that died while it wrote the first has recorded nothing, and so has done nothing.
    """
    try:
        with opened_regular(path) as file:
            return not file.readline().endswith(b"\n")
    except FileNotFoundError:
        return False
    except OSError as err:
        raise AuditError(f"{path}: the chain cannot be read: {err.strerror}") from err
