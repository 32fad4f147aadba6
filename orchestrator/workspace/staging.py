"""Makes everything an apply will need beside the host's files, before it touches one of them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.attributes import keep_attributes
from orchestrator.workspace.beneath import exchange
from orchestrator.workspace.contents import Digester, read_chunks
from orchestrator.workspace.journal import Op, Step
from orchestrator.workspace.node import PERMISSIONS, Change, Node, Signature, signature
from orchestrator.workspace.removal import unlink_all
from orchestrator.workspace.tree import Tree

OpenContent = Callable[[Change], AbstractContextManager[int]]
"""Opens the box's content of a change for reading."""

_NOT_OFFERED = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM}

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class Stager:
    """Turns changes into steps, with their contents in the staging directory."""

    tree: Tree
    fd: int
    """The staging directory."""
    content: OpenContent
    owner: tuple[int, int] | None
    """Uid and gid for what is made anew, where the caller may choose."""
    steps: list[Step] = field(default_factory=list)
    _made: set[str] = field(default_factory=set)
    _count: int = 0

    def add(self, change: Change) -> None:
        """Stage one change; its steps come after those of the changes before it."""
        if change.kind == "mode" and change.new is not None:
            mode = change.new.mode & PERMISSIONS
            self.steps.append(Step("chmod", change.path, mode, seen=change.seen))
            return
        old, new = change.old, change.new
        swap = change.kind in {"modified", "type"} and "directory" not in _types(old, new)
        if old is not None and not swap:
            self._take_away(change, old)
        if new is None:
            return
        if new.type == "directory":
            self._make_directory(change.path, new.mode & PERMISSIONS)
            return
        self._make_parents(change.path)
        slot = self._slot()
        owner = self._owner_of(change.path) if swap else self.owner
        staged = self._link(slot, new, owner) if new.type == "symlink" else None
        if staged is None:
            staged = self._copy(slot, change, new, owner)
        op: Op = "replace" if swap else "create"
        self.steps.append(Step(op, change.path, slot=slot, staged=staged, seen=change.seen))

    def _take_away(self, change: Change, old: Node) -> None:
        if old.type == "directory":
            self.steps.append(Step("rmdir", change.path, old.mode & PERMISSIONS))
        else:
            self.steps.append(Step("remove", change.path, slot=self._slot(), seen=change.seen))

    def _make_directory(self, path: str, mode: int) -> None:
        self._make_parents(path)
        self.steps.append(Step("mkdir", path, mode))
        self._made.add(path)

    def _make_parents(self, path: str) -> None:
        parts = path.split("/")
        for count in range(1, len(parts)):
            above = "/".join(parts[:count])
            if above in self._made:
                continue
            info = self.tree.lstat(above)
            if info is None or not stat.S_ISDIR(info.st_mode):
                self.steps.append(Step("mkdir", above))
            self._made.add(above)

    def _copy(
        self, slot: str, change: Change, new: Node, owner: tuple[int, int] | None
    ) -> Signature:
        digester = Digester()
        fd = os.open(slot, _NEW, 0o600, dir_fd=self.fd)
        try:
            with self.content(change) as source:
                for data in read_chunks(source):
                    digester.update(data)
                    if digester.size > new.size:
                        break
                    _write_all(fd, data)
            if (digester.size, digester.sha256) != (new.size, new.sha256):
                raise WorkspaceError(
                    f"{change.path!r}: its content in the box changed after it was looked at; "
                    "nothing was applied",
                    hint="end whatever still runs in the box, and look again with `glovebox diff`",
                )
            if owner is not None:
                os.fchown(fd, *owner)
            keep_attributes(self.tree, change.path, fd)
            os.fchmod(fd, new.mode & PERMISSIONS)
            return signature(os.fstat(fd))
        finally:
            os.close(fd)

    def _link(self, slot: str, new: Node, owner: tuple[int, int] | None) -> Signature:
        os.symlink(new.target, slot, dir_fd=self.fd)
        if owner is not None:
            os.chown(slot, *owner, dir_fd=self.fd, follow_symlinks=False)
        return signature(os.stat(slot, dir_fd=self.fd, follow_symlinks=False))

    def _owner_of(self, path: str) -> tuple[int, int] | None:
        """A file that is replaced keeps its owner, where the caller may choose."""
        info = self.tree.lstat(path) if self.owner is not None else None
        return (info.st_uid, info.st_gid) if info is not None else self.owner

    def _slot(self) -> str:
        self._count += 1
        return str(self._count)


def can_swap(staging_fd: int, directory: str) -> bool:
    """Say whether the file system swaps two names in one step.

    Raises WorkspaceError where it can neither do that nor make hard links.
    """
    for name in ("a", "b"):
        os.close(os.open(name, _NEW, 0o600, dir_fd=staging_fd))
    try:
        return _try_swap(staging_fd) or _require_links(staging_fd, directory)
    finally:
        for name in ("a", "b", "c"):
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=staging_fd)


def _try_swap(staging_fd: int) -> bool:
    try:
        exchange("a", "b", src_fd=staging_fd, dst_fd=staging_fd)
    except OSError as err:
        if err.errno not in _NOT_OFFERED:
            raise
        return False
    return True


def _require_links(staging_fd: int, directory: str) -> bool:
    """Return False, as there is no swap; WorkspaceError where there are no hard links either."""
    try:
        os.link("a", "c", src_dir_fd=staging_fd, dst_dir_fd=staging_fd)
    except OSError as err:
        raise WorkspaceError(
            f"{directory}: its file system can neither swap two names in one step nor make hard "
            f"links ({err.strerror}), so nothing could be applied without the risk of losing work",
            hint="move the project to a local file system such as ext4, xfs or btrfs, or take "
            "the changes as a patch: glovebox apply --patch FILE",
        ) from err
    return False


@contextmanager
def open_staging(tree: Tree, name: str) -> Iterator[int]:
    """Open the staging directory at the top of the tree."""
    try:
        with tree.directory(name) as fd:
            yield fd
    except FileNotFoundError as err:
        if err.filename != name:
            raise
        raise WorkspaceError(
            f"{tree.root}/{name}: the staging directory of an unfinished apply is gone",
            hint="compare the directory with `glovebox diff`; `glovebox discard` forgets the rest",
        ) from err


def remove_staging(tree: Tree, name: str) -> None:
    """Remove the staging directory and what is in it; returns when it is gone."""
    with suppress(FileNotFoundError), tree.directory(name) as fd:
        unlink_all(fd, (found.path.rpartition("/")[2] for found in tree.children(name)))
    with suppress(FileNotFoundError):
        os.rmdir(name, dir_fd=tree.fd)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _types(old: Node | None, new: Node | None) -> set[str]:
    return {node.type for node in (old, new) if node is not None}
