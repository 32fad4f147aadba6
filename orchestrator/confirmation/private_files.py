"""A folder of small files that only this user may read or change.

Files come to be whole or not at all, and are on the disk when ``write`` returns. A file or folder
that another user could have written is refused: it may hold a yes that nobody gave.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orchestrator.errors import ConfigError

LOCK = ".lock"
LOCK_WAIT_S = 10.0
"""Holders need milliseconds; one that is stopped must not hold up everybody for good."""
MAX_BYTES = 8 * 1024 * 1024
"""A question holds at most a file's content; more is none of ours."""
_PAUSE_S = 0.02


class PrivateFolder:
    """A folder below the host's state; made with the first file."""

    def __init__(self, path: Path) -> None:
        """Use ``path``; nothing is touched yet."""
        self.path = path

    def names(self) -> list[str]:
        """Return the names of all files but the lock's and unfinished ones."""
        try:
            found = sorted(entry.name for entry in self.path.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _odd(self.path, f"cannot be listed: {error.strerror}") from error
        self._check(self.path.lstat(), self.path)
        return [name for name in found if not name.startswith(".")]

    def read(self, name: str) -> bytes | None:
        """Return a file's content, None where there is none; ConfigError where it is not ours."""
        path = self.path / name
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _odd(path, f"cannot be read: {error.strerror}") from error
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise _odd(path, f"expected a regular file, got {stat.filemode(found.st_mode)}")
            self._check(found, path)
            with os.fdopen(fd, "rb", closefd=False) as file:
                data = file.read(MAX_BYTES + 1)
        finally:
            os.close(fd)
        if len(data) > MAX_BYTES:
            raise ConfigError(f"{path}: expected at most {MAX_BYTES} bytes, got more")
        return data

    def write(self, name: str, data: bytes) -> None:
        """Put a file in place, whole, and return when it is on the disk."""
        self._make()
        fresh = self.path / f".{secrets.token_hex(8)}"
        try:
            fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(fd)
            fresh.replace(self.path / name)
            self._sync()
        except OSError as error:
            with suppress(OSError):
                fresh.unlink()
            raise ConfigError(f"{self.path / name}: cannot be written: {error.strerror}") from error

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        try:
            (self.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise _odd(self.path / name, f"cannot be removed: {error.strerror}") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other process from changing anything until the end of the block."""
        self._make()
        lock = self.path / LOCK
        try:
            fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise _odd(lock, f"cannot be locked: {error.strerror}") from error
        try:
            self._lock(fd)
            yield
        finally:
            os.close(fd)

    def _lock(self, fd: int) -> None:
        end = time.monotonic() + LOCK_WAIT_S
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise ConfigError(
                        f"{self.path / LOCK}: another process holds it",
                        hint="see who: fuser -v " + str(self.path / LOCK),
                    ) from None
                time.sleep(_PAUSE_S)
            else:
                return

    def _make(self) -> None:
        try:
            # Of several that are made at once only the last gets the mode.
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700, exist_ok=True)
            self._check(self.path.lstat(), self.path)
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be made: {error.strerror}") from error

    def _sync(self) -> None:
        fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    @staticmethod
    def _check(found: os.stat_result, path: Path) -> None:
        kind = stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)
        if not kind or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            mode = stat.filemode(found.st_mode)
            raise ConfigError(
                f"{path}: expected it to be yours alone, found {mode} of uid {found.st_uid}",
                hint="what another user could write is no answer; look at it and remove it",
            )


def _odd(path: Path, what: str) -> ConfigError:
    """Return the error for what is none of this program's making, or cannot be told to be."""
    return ConfigError(
        f"{path}: {what}",
        hint=f"look at it (ls -ld {path}) and move it away; nothing is answered while it is there",
    )
