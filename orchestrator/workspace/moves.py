"""How contents change places between the staging directory and the host, without overwriting.

``Swapping`` needs a file system that swaps two names in one step. ``Linking`` is for those that
cannot, such as NFS: a name is missing for a moment, but nothing is lost, and whoever dies in
between leaves what ``mend`` puts in order.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import Protocol

from orchestrator.workspace.beneath import exchange, rename_new

_WAS = ".was"
"""Ending of a slot's second name, for what stood in the way during a swap."""


class Moves(Protocol):
    """Between a slot of the staging directory and a name in an open directory of the host."""

    def take(self, slot: str, fd: int, name: str) -> None:
        """Move the name into its free slot."""
        ...

    def put(self, slot: str, fd: int, name: str) -> None:
        """Move the slot to a name that must be free; FileExistsError when it is not."""
        ...

    def swap(self, slot: str, fd: int, name: str) -> None:
        """Let slot and name change places; both must exist."""
        ...

    def mend(self, slot: str, fd: int, name: str) -> None:
        """Finish or undo a move that was cut off; FileExistsError where somebody took the name."""
        ...


@dataclass(frozen=True, slots=True)
class Swapping:
    """One call of the kernel each, so that nothing can be cut off."""

    staging_fd: int

    def take(self, slot: str, fd: int, name: str) -> None:
        rename_new(name, slot, src_fd=fd, dst_fd=self.staging_fd)

    def put(self, slot: str, fd: int, name: str) -> None:
        rename_new(slot, name, src_fd=self.staging_fd, dst_fd=fd)

    def swap(self, slot: str, fd: int, name: str) -> None:
        exchange(slot, name, src_fd=self.staging_fd, dst_fd=fd)

    def mend(self, slot: str, fd: int, name: str) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Linking:
    """By hard links, which no file system makes over a name that is taken."""

    staging_fd: int

    def take(self, slot: str, fd: int, name: str) -> None:
        # Nobody else makes names in the staging directory, so a free one stays free.
        os.rename(name, slot, src_dir_fd=fd, dst_dir_fd=self.staging_fd)

    def put(self, slot: str, fd: int, name: str) -> None:
        self._link(slot, fd, name)
        os.unlink(slot, dir_fd=self.staging_fd)

    def swap(self, slot: str, fd: int, name: str) -> None:
        self.take(slot + _WAS, fd, name)
        self._link(slot, fd, name)
        self._rename_here(slot + _WAS, slot)

    def mend(self, slot: str, fd: int, name: str) -> None:
        mine, theirs = self._inode(self.staging_fd, slot), self._inode(fd, name)
        aside = self._inode(self.staging_fd, slot + _WAS)
        if aside is None:
            if mine is not None and mine == theirs:
                os.unlink(slot, dir_fd=self.staging_fd)
        elif theirs is None:
            self._link(slot + _WAS, fd, name)
            os.unlink(slot + _WAS, dir_fd=self.staging_fd)
        elif theirs == aside:
            os.unlink(slot + _WAS, dir_fd=self.staging_fd)
        elif theirs == mine:
            self._rename_here(slot + _WAS, slot)
        else:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)

    def _link(self, slot: str, fd: int, name: str) -> None:
        os.link(slot, name, src_dir_fd=self.staging_fd, dst_dir_fd=fd, follow_symlinks=False)

    def _rename_here(self, name: str, new: str) -> None:
        os.rename(name, new, src_dir_fd=self.staging_fd, dst_dir_fd=self.staging_fd)

    @staticmethod
    def _inode(fd: int, name: str) -> int | None:
        try:
            return os.stat(name, dir_fd=fd, follow_symlinks=False).st_ino
        except FileNotFoundError:
            return None
