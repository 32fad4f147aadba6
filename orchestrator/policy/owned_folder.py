"""A folder that nobody but its owner can change: every directory above it is looked at too."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import PolicyError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
"""An access list's rights for others show in the group's bits, as its mask."""


@dataclass(frozen=True, slots=True)
class OwnedFolder:
    """``/etc/glovebox``, or in tests the same below another root.

    Nothing of the environment and no flag names another one: whoever is governed by what is in it
    must not be able to look elsewhere.
    """

    root: Path = Path("/")
    names: tuple[str, ...] = ("etc", "glovebox")
    owner: int = 0
    """The uid that must own everything on the way."""

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.root.joinpath(*self.names)

    def entries(self) -> frozenset[str]:
        """Return the names in it, none where there is no such folder."""
        try:
            # A link is told of when a file is read; one that leads nowhere is no absence.
            self.path.lstat()
        except FileNotFoundError:
            return frozenset()
        except OSError as err:
            raise self._unknown(err) from err
        try:
            return frozenset(path.name for path in self.path.iterdir())
        except OSError as err:
            raise self._unknown(err) from err

    def read(self, name: str, *, limit: int) -> bytes:
        """Return a file's bytes, ``limit`` at most; PolicyError unless only the owner can change it."""
        path = self.path / name
        with self._opened() as folder:
            try:
                file = os.open(
                    name,
                    os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC,
                    dir_fd=folder,
                )
            except OSError as err:
                raise _unreadable(path, err) from err
        try:
            self._check_file(path, os.fstat(file))
            with os.fdopen(file, "rb", closefd=False) as stream:
                data = stream.read(limit + 1)
        except OSError as err:
            raise _unreadable(path, err) from err
        finally:
            os.close(file)
        if len(data) > limit:
            raise PolicyError(f"{path}:1: file is too large: more than {limit} bytes")
        return data

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the folder from the root down, without following a link, and look at each step."""
        path = self.root
        here = _directory(path, None)
        try:
            self._check(path, os.fstat(here))
            for name in self.names:
                path /= name
                above, here = here, _directory(path, here)
                os.close(above)
                self._check(path, os.fstat(here))
            yield here
        finally:
            os.close(here)

    def _unknown(self, err: OSError) -> PolicyError:
        return PolicyError(
            f"{self.path}: cannot be looked at: {err.strerror}; whether an organisation's policy "
            "holds here cannot be told",
            hint=f"as its owner: chmod 755 {self.path}, or remove what is in its place",
        )

    def _check_file(self, path: Path, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):
            raise PolicyError(
                f"{path}: expected a regular file, got something else",
                hint="as its owner: remove it and put the file itself there",
            )
        self._check(path, found)

    def _check(self, path: Path, found: os.stat_result) -> None:
        if found.st_uid != self.owner:
            raise PolicyError(
                f"{path}: expected to be owned by {_who(self.owner)}, got uid {found.st_uid}",
                hint=f"as root: chown {self.owner}:{self.owner} {path}",
            )
        if found.st_mode & _OTHERS_WRITE:
            raise PolicyError(
                f"{path}: expected a mode in which only its owner can write, "
                f"got {stat.S_IMODE(found.st_mode):04o}",
                hint=f"as root: chmod go-w {path}",
            )


def _directory(path: Path, above: int | None) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    try:
        if above is None:
            return os.open(path, flags)
        return os.open(path.name, flags | os.O_NOFOLLOW, dir_fd=above)
    except OSError as err:
        raise _unreadable(path, err) from err


def _unreadable(path: Path, err: OSError) -> PolicyError:
    if err.errno in {errno.ELOOP, errno.ENOTDIR}:
        return PolicyError(
            f"{path}: expected no symbolic link on the way to an organisation's policy",
            hint="put the file itself there, as root",
        )
    return PolicyError(
        f"{path}: cannot be read: {err.strerror}",
        hint="what is mandatory is not left out; its owner can mend it: the file must be there, "
        "mode 0644, in a folder of mode 0755",
    )


def _who(uid: int) -> str:
    return "root" if uid == 0 else f"uid {uid}"
