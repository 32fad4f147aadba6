"""Makes the upper directory of an overlay anew, as a snapshot says, and swaps it in at once.

The new one is built beside the old one; until the swap nothing has changed, after it everything.
No box may have the overlay mounted meanwhile.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.beneath import exchange, sync_file_system
from orchestrator.workspace.contents import Digester, read_chunks
from orchestrator.workspace.node import signature
from orchestrator.workspace.snapshots_bytes import clone, write_all
from orchestrator.workspace.snapshots_contents import Contents
from orchestrator.workspace.snapshots_piece import (
    Piece,
    Pieces,
)
from orchestrator.workspace.sweep import sweep
from orchestrator.workspace.tree import Tree, open_tree

NEXT = "upper.next"
"""Name of the directory that is built, in the session's folder; after the swap, of the old one."""

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_SPECIAL = {
    "whiteout": stat.S_IFCHR,
    "fifo": stat.S_IFIFO,
    "socket": stat.S_IFSOCK,
}


def rebuild_upper(folder: Path, wanted: Pieces, *, present: Pieces, contents: Contents) -> None:
    """Make ``upper`` in the session's folder what ``wanted`` says.

    ``present`` is what it is now; files that stay are taken over by a second link. Raises
    WorkspaceError where a content is not to be had, and nothing has changed.
    """
    _check_lost(wanted, present)
    clear_next(folder)
    (folder / NEXT).mkdir(mode=0o700)
    try:
        with open_tree(folder / "upper") as upper, open_tree(folder / NEXT) as made:
            _Builder(upper, made, present, contents).build(wanted)
            sync_file_system(made.fd)
    except OSError as err:
        clear_next(folder)
        raise WorkspaceError(
            f"{err.filename or folder}: the snapshot cannot be made again: {err.strerror}; "
            "nothing has changed",
            hint="check the free space where the sessions' state is kept",
        ) from err
    except BaseException:
        clear_next(folder)
        raise
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        exchange(NEXT, "upper", src_fd=fd, dst_fd=fd)
        os.fsync(fd)
    finally:
        os.close(fd)
    # What cannot be removed now is met by the next rewind, or by the discard.
    sweep(folder / NEXT)


def clear_next(folder: Path) -> None:
    """Remove what a rewind that was cut off had built, or the old files it had no time for."""
    stuck = sweep(folder / NEXT)
    if stuck:
        raise WorkspaceError(
            f"{folder / NEXT}: {', '.join(map(repr, stuck))} cannot be removed",
            hint="remove the directory as root",
        )


def _check_lost(wanted: Pieces, present: Pieces) -> None:
    lost = {
        path: piece.lost or "it is a device"
        for path, piece in wanted.items()
        if (piece.lost and not _stays(path, piece, present)) or piece.type == "device"
    }
    if lost:
        first, why = next(iter(sorted(lost.items())))
        raise WorkspaceError(
            f"{first!r}: the snapshot does not hold its content: {why}; nothing has changed"
            + (f" ({len(lost)} names in all)" if len(lost) > 1 else ""),
            hint="choose another snapshot: glovebox rewind --list",
        )


def _stays(path: str, piece: Piece, present: Pieces) -> bool:
    """True for a file that is still as it was, so that its content need not be known."""
    return piece.type == "file" and piece.same(present.get(path)) and piece.seen is not None


@dataclass(slots=True)
class _Builder:
    upper: Tree
    made: Tree
    present: Pieces
    contents: Contents

    def build(self, wanted: Pieces) -> None:
        directories = []
        for path, piece in sorted(wanted.items()):
            if piece.type == "directory":
                if path:
                    with self.made.parent(path) as (fd, name):
                        os.mkdir(name, 0o700, dir_fd=fd)
                directories.append((path, piece))
            else:
                self._make(path, piece)
        # At last and from below, because a new name touches the directory that holds it.
        for path, piece in reversed(directories):
            with self.made.directory(path) as fd:
                _finish(fd, piece)

    def _make(self, path: str, piece: Piece) -> None:
        with self.made.parent(path) as (fd, name):
            if piece.type == "symlink":
                os.symlink(piece.target, name, dir_fd=fd)
                _finish_unopened(name, piece, fd)
            elif piece.type != "file":
                os.mknod(name, _SPECIAL[piece.type] | 0o600, os.makedev(0, 0), dir_fd=fd)
                if piece.type != "whiteout":
                    os.chmod(name, piece.mode, dir_fd=fd)
                    _finish_unopened(name, piece, fd)
            elif piece.twin:
                with self.made.parent(piece.twin) as (twin_fd, twin):
                    os.link(twin, name, src_dir_fd=twin_fd, dst_dir_fd=fd, follow_symlinks=False)
            elif not self._take_over(path, piece, fd):
                self._write(piece, fd, name)

    def _take_over(self, path: str, piece: Piece, fd: int) -> bool:
        """Link the file that is there now, where it is the one wanted."""
        now = self.present.get(path)
        if now is None or now.seen is None or not piece.same(now):
            return False
        try:
            info = self.upper.lstat(path)
        except PermissionError:
            # In a directory that lets nobody in; its content is kept like every other.
            return False
        if info is None or signature(info) != now.seen:
            return False
        with self.upper.parent(path) as (old_fd, name):
            os.link(name, name, src_dir_fd=old_fd, dst_dir_fd=fd, follow_symlinks=False)
        return True

    def _write(self, piece: Piece, directory: int, name: str) -> None:
        source = self.contents.open(piece.sha256)
        try:
            fd = os.open(name, _NEW, 0o600, dir_fd=directory)
            try:
                if not clone(source, fd):
                    for data in read_chunks(source):
                        write_all(fd, data)
                os.lseek(fd, 0, os.SEEK_SET)
                _check(fd, piece)
                _finish(fd, piece)
            finally:
                os.close(fd)
        finally:
            os.close(source)


def _check(fd: int, piece: Piece) -> None:
    digester = Digester()
    for data in read_chunks(fd):
        digester.update(data)
    if digester.sha256 != piece.sha256:
        raise WorkspaceError(
            f"a snapshot's content {piece.sha256} is damaged; nothing has changed",
            hint="choose another snapshot: glovebox rewind --list",
        )


def _finish(fd: int, piece: Piece) -> None:
    """Give an open file or directory its attributes."""
    for name, value in piece.marks:
        os.setxattr(fd, name, bytes.fromhex(value))
    if os.geteuid() == 0:
        os.fchown(fd, piece.uid, piece.gid)
    os.fchmod(fd, piece.mode)
    os.utime(fd, ns=(piece.mtime_ns, piece.mtime_ns))


def _finish_unopened(name: str, piece: Piece, directory: int) -> None:
    """Give what cannot be opened its owner and its time."""
    if os.geteuid() == 0:
        os.chown(name, piece.uid, piece.gid, dir_fd=directory, follow_symlinks=False)
    times = (piece.mtime_ns, piece.mtime_ns)
    os.utime(name, ns=times, dir_fd=directory, follow_symlinks=False)
