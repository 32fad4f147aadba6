"""Carries out the steps of an apply, and undoes them; both may be repeated after a crash.

Nothing is overwritten: what stood in a name's place is swapped into the staging directory and
looked at there. If it is not what was judged, it is swapped back and the step has lost a race.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NoReturn

from orchestrator.workspace.journal import Op, Step
from orchestrator.workspace.moves import Moves
from orchestrator.workspace.node import signature
from orchestrator.workspace.tree import Tree

_TAKEN = {errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR}
_MOVED = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR}


_Effect = Callable[[Step, int, str], None]
"""What to do with a name in an open directory."""

Undone = Literal["done", "taken", "gone", "away"]
"""How an undo ended: taken back or never done; its name is somebody else's by now; what the step made
is not there any more; or what is above it cannot be entered, so that it may still be as it was made."""

NEW_DIRECTORY = 0o755
"""Mode of a directory that no step gives one; the caller's umask applies."""


class _Gone(Exception):  # noqa: N818 - reads as what it is
    """Raised when what a step made is neither in its place nor in the staging directory."""


class RaceLost(Exception):  # noqa: N818 - reads as what it is
    """Raised when the host changed between the judgement and the step."""

    def __init__(self, path: str) -> None:
        """Name the path that changed."""
        super().__init__(path)
        self.path = path


@dataclass(frozen=True, slots=True)
class Committer:
    """Works on one host directory with one staging directory in it."""

    tree: Tree
    staging_fd: int
    moves: Moves
    owner: tuple[int, int] | None
    """Uid and gid for new directories, where the caller may choose."""
    kept: list[str] = field(default_factory=list)
    """Paths that an undo left alone, because they are no longer what the step had made."""
    made: set[str] = field(default_factory=set)
    """Directories that a step made."""

    def do(self, step: Step) -> None:
        """Carry out one step, or find it done; RaceLost when the host has moved on."""
        try:
            with self.tree.parent(step.path) as (fd, name):
                self._mend(step, fd, name)
                self._doing()[step.op](step, fd, name)
        except OSError as err:
            if err.errno not in _MOVED:
                raise
            if not self._gone_before(step, err):
                raise RaceLost(step.path) from err

    def _mend(self, step: Step, fd: int, name: str) -> None:
        if step.slot:
            self.moves.mend(step.slot, fd, name)

    def _mends(self, step: Step, fd: int, name: str) -> bool:
        """Return False where somebody made the name anew: theirs stays, and what was there too."""
        try:
            self._mend(step, fd, name)
        except FileExistsError:
            self._keep(step)
            return False
        return True

    def _keep(self, step: Step) -> None:
        if step.path not in self.kept:
            self.kept.append(step.path)

    def _gone_before(self, step: Step, err: OSError) -> bool:
        """True for a removal that was done, when even the directory above is gone by now."""
        above_gone = err.errno in {errno.ENOENT, errno.ENOTDIR}
        if step.op == "remove" and self._in_slot(step) is not None:
            return above_gone and self._slot_as_seen(step)
        return step.op in {"remove", "rmdir"} and above_gone

    def undo(self, step: Step) -> Undone:
        """Take one step back, or find it not done; what is no longer ours is kept as it is."""
        try:
            with self.tree.parent(step.path) as (fd, name):
                above = os.fstat(fd)
                if self._mends(step, fd, name):
                    self._undoing()[step.op](step, fd, name)
        except RaceLost:
            # Only an empty directory that was removed can meet this: its name is taken by now.
            self._keep(step)
        except _Gone:
            return "gone"
        except OSError as err:
            if err.errno in _TAKEN:
                return "done" if step.op == "mkdir" and step.path not in self.made else "taken"
            return "done" if self._surely_not_done(step) else "away"
        else:
            # Somebody may have put another directory there, in which nothing was done.
            return "done" if self._is_still_there(step.path, above) else "away"
        return "done"

    def _is_still_there(self, path: str, above: os.stat_result) -> bool:
        directory = path.rpartition("/")[0]
        now = self.tree.lstat(directory) if directory else above
        return now is not None and os.path.samestat(now, above)

    def _surely_not_done(self, step: Step) -> bool:
        """True where the staging directory proves that a step was not done, or is taken back."""
        if not step.slot:
            return False
        slot = self._in_slot(step)
        if step.op == "remove":
            return slot is None
        return slot is not None and _is_staged(slot, step)

    def drop_staged(self, step: Step) -> None:
        """Remove a staged content that was never applied; what was replaced stays."""
        slot = self._in_slot(step) if step.slot else None
        if slot is not None and _is_staged(slot, step):
            os.unlink(step.slot, dir_fd=self.staging_fd)

    def _doing(self) -> dict[Op, _Effect]:
        return {
            "create": self._create,
            "replace": self._replace,
            "remove": self._remove,
            "mkdir": self._mkdir,
            "rmdir": self._rmdir,
            "chmod": self._chmod,
        }

    def _undoing(self) -> dict[Op, _Effect]:
        return {
            "create": self._uncreate,
            "replace": self._unreplace,
            "remove": self._unremove,
            "mkdir": self._rmdir,
            "rmdir": self._mkdir,
            "chmod": self._unchmod,
        }

    def _create(self, step: Step, fd: int, name: str) -> None:
        if self._in_slot(step) is not None:
            self.moves.put(step.slot, fd, name)

    def _uncreate(self, step: Step, fd: int, name: str) -> None:
        info = _lstat(fd, name)
        if self._in_slot(step) is not None:
            return
        if info is None:
            raise _Gone
        if _is_staged(info, step):
            self.moves.take(step.slot, fd, name)
        else:
            self._keep(step)

    def _replace(self, step: Step, fd: int, name: str) -> None:
        slot = self._in_slot(step)
        if slot is not None and _is_staged(slot, step):
            self.moves.swap(step.slot, fd, name)
        if not self._slot_as_seen(step):
            self.moves.swap(step.slot, fd, name)
            raise RaceLost(step.path)

    def _unreplace(self, step: Step, fd: int, name: str) -> None:
        slot = self._in_slot(step)
        if slot is None or _is_staged(slot, step):
            return
        info = _lstat(fd, name)
        if info is None:
            raise _Gone
        if _is_staged(info, step):
            self.moves.swap(step.slot, fd, name)
        else:
            self._keep(step)

    def _remove(self, step: Step, fd: int, name: str) -> None:
        if self._in_slot(step) is None:
            if _lstat(fd, name) is None:
                return
            self.moves.take(step.slot, fd, name)
        if not self._slot_as_seen(step):
            self.moves.put(step.slot, fd, name)
            raise RaceLost(step.path)

    def _unremove(self, step: Step, fd: int, name: str) -> None:
        if self._in_slot(step) is not None:
            self.moves.put(step.slot, fd, name)

    def _mkdir(self, step: Step, fd: int, name: str) -> None:
        if _lstat(fd, name) is None:
            os.mkdir(name, NEW_DIRECTORY, dir_fd=fd)
            self.made.add(step.path)
        info = os.stat(name, dir_fd=fd, follow_symlinks=False)
        if not stat.S_ISDIR(info.st_mode):
            raise RaceLost(step.path)
        if self.owner is not None and (info.st_uid, info.st_gid) != self.owner:
            os.chown(name, *self.owner, dir_fd=fd, follow_symlinks=False)
        if step.mode and stat.S_IMODE(info.st_mode) != step.mode:
            _chmod(fd, name, step.mode)

    def _rmdir(self, step: Step, fd: int, name: str) -> None:  # noqa: ARG002 - one form for all
        info = _lstat(fd, name)
        # A file in its place is what a later step of the same apply put there.
        if info is not None and stat.S_ISDIR(info.st_mode):
            os.rmdir(name, dir_fd=fd)

    def _chmod(self, step: Step, fd: int, name: str) -> None:
        info = _lstat(fd, name)
        if info is None or step.seen is None or info.st_ino != step.seen.inode:
            raise RaceLost(step.path)
        if stat.S_IMODE(info.st_mode) == step.mode:
            return
        # A directory's size and times change with every other step in it.
        as_seen = stat.S_ISDIR(info.st_mode) or signature(info) == step.seen
        if not as_seen:
            raise RaceLost(step.path)
        _chmod(fd, name, step.mode)

    def _unchmod(self, step: Step, fd: int, name: str) -> None:
        info = _lstat(fd, name)
        ours = info is not None and step.seen is not None and info.st_ino == step.seen.inode
        if ours and info is not None and step.seen is not None:
            before = stat.S_IMODE(step.seen.mode)
            if stat.S_IMODE(info.st_mode) != before:
                _chmod(fd, name, before)

    def _in_slot(self, step: Step) -> os.stat_result | None:
        return _lstat(self.staging_fd, step.slot)

    def _slot_as_seen(self, step: Step) -> bool:
        info = self._in_slot(step)
        if info is None or step.seen is None:
            return False
        return step.seen.survived_rename(signature(info))


def _is_staged(info: os.stat_result, step: Step) -> bool:
    return step.staged is not None and step.staged.survived_rename(signature(info))


def _lstat(fd: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _chmod(fd: int, name: str, mode: int) -> None:
    """Set a mode without following a link, which chmod itself cannot."""
    opened = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
    try:
        if stat.S_ISLNK(os.fstat(opened).st_mode):
            _refuse_link(name)
        Path(f"/proc/self/fd/{opened}").chmod(mode)
    finally:
        os.close(opened)


def _refuse_link(name: str) -> NoReturn:
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
