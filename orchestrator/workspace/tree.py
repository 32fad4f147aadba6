"""A directory tree of the host, reached only through its descriptor and never through a link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.beneath import file_handle, has_openat2, open_beneath

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_POINT = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG}
"""A path that passes through a link or a file names nothing beneath a tree."""
_CLOSED = {errno.EACCES, errno.EPERM}


@dataclass(frozen=True, slots=True)
class Found:
    """One name met on a walk."""

    path: str
    stat: os.stat_result


@dataclass(frozen=True, slots=True)
class Crowd:
    """The names of a directory that may hold more of them than memory should."""

    found: list[Found]
    """Sorted by path."""
    left: int = 0
    """How many more there are."""
    sample: Found | None = None
    """One of those."""


@dataclass(frozen=True, slots=True)
class Tree:
    """An open directory; ``open_tree`` makes and closes it."""

    fd: int
    root: str
    """Where it was opened; for messages only."""
    device: int
    openat2: bool
    """False where every path is opened one component after another."""

    def lstat(self, path: str) -> os.stat_result | None:
        """Return what the name itself is, None where there is nothing without passing a link."""
        with self._pointing(path) as fd:
            return None if fd is None else os.fstat(fd)

    @contextmanager
    def lent(self, path: str, rights: int) -> Iterator[bool]:
        """Give the owner more rights on a file or directory of this user, for the block only.

        False where it is somebody else's, or nothing. What changes its mode meanwhile has its way.
        """
        with self._pointing(path) as fd:
            info = None if fd is None else os.fstat(fd)
            if info is None or info.st_uid != os.geteuid() or stat.S_ISLNK(info.st_mode):
                yield False
                return
            name = Path(f"/proc/self/fd/{fd}")
            before = stat.S_IMODE(info.st_mode)
            name.chmod(before | rights)
            lent = name.stat().st_mode
            try:
                yield True
            finally:
                if name.stat().st_mode == lent:
                    name.chmod(before)

    def handle(self, path: str) -> tuple[int, bytes] | None:
        """Return the handle of what the name itself is, as ``file_handle``; None without one."""
        with self._pointing(path) as fd:
            return None if fd is None else file_handle(fd)

    def has_file(self, path: str) -> bool:
        """Return whether there is a file, link or the like, but no directory."""
        found = self.lstat(path)
        return found is not None and not stat.S_ISDIR(found.st_mode)

    def read_link(self, path: str) -> str:
        """Return a symlink's stored target."""
        fd = self._open(path, _POINT)
        try:
            return os.readlink("", dir_fd=fd)
        finally:
            os.close(fd)

    @contextmanager
    def file(self, path: str) -> Iterator[int]:
        """Open a regular file for reading; anything else is an OSError, and never blocks."""
        fd = self._open(path, _READ)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", path)
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def directory(self, path: str) -> Iterator[int]:
        """Open a directory for listing; ``""`` is the root."""
        fd = self._open(path, _LIST)
        try:
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def parent(self, path: str) -> Iterator[tuple[int, str]]:
        """Open the directory that holds ``path`` and give it with the last component."""
        above, _, name = path.rpartition("/")
        with self.directory(above) as fd:
            yield fd, name

    def children(self, path: str) -> list[Found]:
        """Return the names in a directory, sorted; those that vanish meanwhile are left out."""
        prefix = f"{path}/" if path else ""
        found = []
        with self.directory(path) as fd, os.scandir(fd) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    found.append(Found(prefix + entry.name, entry.stat(follow_symlinks=False)))
        return sorted(found, key=lambda item: item.path)

    def crowd(self, path: str, *, most: int, wanted: Callable[[], Container[str]]) -> Crowd:
        """Return all names of a directory, or of more than ``most`` of them only the wanted paths.

        ``wanted`` is asked for only then.
        """
        prefix = f"{path}/" if path else ""
        kept: list[Found] = []
        chosen: Container[str] | None = None
        sample: Found | None = None
        left = 0
        with self.directory(path) as fd, os.scandir(fd) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    path = prefix + entry.name
                    if chosen is not None and path not in chosen:
                        left += 1
                        sample = sample or Found(path, entry.stat(follow_symlinks=False))
                        continue
                    kept.append(Found(path, entry.stat(follow_symlinks=False)))
                if chosen is None and len(kept) > most:
                    chosen = wanted()
                    others = [found for found in kept if found.path not in chosen]
                    kept = [found for found in kept if found.path in chosen]
                    sample, left = next(iter(others), None), len(others)
        return Crowd(sorted(kept, key=lambda item: item.path), left, sample)

    def walk(
        self, path: str, *, enter: Callable[[Found], bool], pass_over: bool = False
    ) -> Iterator[Found]:
        """Yield every name below ``path``, a directory before what is in it.

        ``enter`` is asked for each directory; mount points are never entered. ``pass_over`` leaves
        out what is in a directory whose mode forbids to look; else it is a PermissionError.
        """
        waiting = [path]
        while waiting:
            try:
                children = self.children(waiting.pop())
            except PermissionError:
                if not pass_over:
                    raise
                continue
            for found in children:
                yield found
                inside = stat.S_ISDIR(found.stat.st_mode) and found.stat.st_dev == self.device
                if inside and enter(found):
                    waiting.append(found.path)

    def visible(self, path: str, *, closed: Container[str] = ()) -> Iterator[Found]:
        """Yield every name below ``path`` that can be seen, mount points included.

        Directories in ``closed`` are not entered, nor those that this process may not list, that
        are nested deeper than a path can say, or that vanish meanwhile.
        """
        waiting = [path]
        while waiting:
            try:
                children = self.children(waiting.pop())
            except OSError as err:
                if err.errno not in _ABSENT | _CLOSED:
                    raise
                continue
            for found in children:
                yield found
                if stat.S_ISDIR(found.stat.st_mode) and found.path not in closed:
                    waiting.append(found.path)

    @contextmanager
    def _pointing(self, path: str) -> Iterator[int | None]:
        """Open the name itself, whatever it is; None where there is nothing."""
        try:
            fd = self._open(path, _POINT)
        except OSError as err:
            if err.errno not in _ABSENT:
                raise
            yield None
            return
        try:
            yield fd
        finally:
            os.close(fd)

    def _open(self, path: str, flags: int) -> int:
        return open_beneath(self.fd, path or ".", flags, openat2=self.openat2)


@contextmanager
def open_tree(directory: Path, *, openat2: bool | None = None) -> Iterator[Tree]:
    """Open ``directory``, itself no link; WorkspaceError when it cannot be."""
    try:
        fd = os.open(directory, _LIST)
    except OSError as err:
        raise WorkspaceError(
            f"{directory}: cannot be opened as a directory: {err.strerror}",
            hint="name a directory that exists and that you may read",
        ) from err
    try:
        offered = has_openat2(fd) if openat2 is None else openat2
        yield Tree(fd, str(directory), os.fstat(fd).st_dev, offered)
    finally:
        os.close(fd)
