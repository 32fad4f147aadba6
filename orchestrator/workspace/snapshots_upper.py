"""The upper directory of an overlay as a layer of snapshots; the box may run meanwhile."""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace

from orchestrator.workspace.node import Limits, node_type, signature
from orchestrator.workspace.snapshots_contents import Contents
from orchestrator.workspace.snapshots_piece import Piece
from orchestrator.workspace.snapshots_scan import Met, Moving, piece_of
from orchestrator.workspace.tree import Tree

_MARKS = "user."
"""Attributes of this kind are kept: the overlay's own marks, and what the box set itself."""


_MOST_CLOSED = 256
"""Directories without rights for their owner that are opened; each costs a descriptor."""
_REALTIME_COARSE = 5
"""The number of that clock on Linux, which Python does not name."""


def file_clock_ns() -> int:
    """Return now by the clock that stamps files."""
    return time.clock_gettime_ns(_REALTIME_COARSE)


_Opened = Callable[[str], AbstractContextManager[int]]


@dataclass(slots=True)
class UpperLayer:
    """Walks without following anything; a name that changes while it is read is Moving.

    A program in the box may take its own rights on a name away. Such names are this user's, who
    gives the rights back for as long as the layer is open; what is kept is the mode they had.
    """

    tree: Tree
    limits: Limits
    most_bytes: int
    """A larger file's content is not kept."""
    now_ns: int = field(default_factory=file_clock_ns)
    _kept: int = 0
    _lent: ExitStack = field(default_factory=ExitStack)
    _closed: int = 0

    def close(self) -> None:
        """Take back every right that was given."""
        self._lent.close()

    def walk(self) -> Iterator[Met]:
        """Yield the root and every name below."""
        yield _met("", os.fstat(self.tree.fd))
        waiting = deque([""])
        room = self.limits.entries
        while waiting:
            path = waiting.popleft()
            try:
                crowd = self.tree.crowd(path, most=room, wanted=frozenset)
            except PermissionError:
                yield self._met_again(path, "its mode lets nobody list it")
                continue
            except OSError as err:
                raise Moving(path) from err
            if crowd.left:
                yield self._met_again(
                    path, f"with it there are more than {self.limits.entries} names"
                )
                continue
            room -= len(crowd.found)
            for found in crowd.found:
                is_directory = stat.S_ISDIR(found.stat.st_mode)
                if is_directory and not self.limits.may_enter(found.path):
                    yield _met(found.path, found.stat, lost="it is nested too deep")
                    continue
                if is_directory:
                    self._open_up(found.path, found.stat.st_mode)
                    waiting.append(found.path)
                yield _met(found.path, found.stat)

    def _open_up(self, path: str, mode: int) -> None:
        if mode & stat.S_IRWXU == stat.S_IRWXU or self._closed >= _MOST_CLOSED:
            return
        self._closed += 1
        self._lent.enter_context(self.tree.lent(path, stat.S_IRWXU))

    def _met_again(self, path: str, lost: str) -> Met:
        info = self.tree.lstat(path)
        if info is None:
            raise Moving(path)
        return _met(path, info, lost=lost)

    def read(self, met: Met, contents: Contents) -> Piece:
        """Read what the walk did not tell."""
        if met.whiteout or met.type in {"fifo", "socket", "device"} or met.lost:
            return piece_of(met)
        try:
            if met.type == "symlink":
                return piece_of(met, target=self.tree.read_link(met.path))
            opened = self.tree.directory if met.type == "directory" else self.tree.file
            return self._read(met, opened, contents)
        except OSError as err:
            raise Moving(met.path) from err

    def _read(self, met: Met, opened: _Opened, contents: Contents) -> Piece:
        try:
            with opened(met.path) as fd:
                return self._opened(met, fd, contents)
        except PermissionError:
            pass
        with self.tree.lent(met.path, stat.S_IRUSR) as lent:
            if not lent:
                mode = met.seen and stat.S_IMODE(met.seen.mode)
                return piece_of(met, lost=f"its mode {mode:04o} lets nobody read it")
            with opened(met.path) as fd:
                now = signature(os.fstat(fd))
                if (
                    met.seen is None
                    or replace(met.seen, mode=now.mode, ctime_ns=now.ctime_ns) != now
                ):
                    raise Moving(met.path)
                # What was lent changed its mode, and that time, for the moment.
                piece = self._opened(replace(met, seen=now), fd, contents)
        return replace(piece, mode=stat.S_IMODE(met.seen.mode))

    def _opened(self, met: Met, fd: int, contents: Contents) -> Piece:
        marks = tuple(
            (name, os.getxattr(fd, name).hex())
            for name in sorted(os.listxattr(fd))
            if name.startswith(_MARKS)
        )
        sha256, lost = "", ""
        if met.type == "file" and met.seen is not None:
            if met.seen.size > self.most_bytes:
                lost = f"it is larger than {self.most_bytes} bytes"
            elif self._kept + met.seen.size > self.limits.bytes:
                lost = f"with it the contents are more than {self.limits.bytes} bytes"
            else:
                self._kept += met.seen.size
                sha256 = contents.keep_file(fd, size=met.seen.size).sha256
        if met.type == "file" and signature(os.fstat(fd)) != met.seen:
            raise Moving(met.path)
        return piece_of(met, marks=marks, sha256=sha256, lost=lost)


def _met(path: str, info: os.stat_result, *, lost: str = "") -> Met:
    return Met(
        path,
        node_type(info.st_mode),
        signature(info),
        info.st_uid,
        info.st_gid,
        group=str(info.st_ino) if info.st_nlink > 1 else "",
        whiteout=stat.S_ISCHR(info.st_mode) and info.st_rdev == 0,
        lost=lost,
    )
