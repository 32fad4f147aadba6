"""Reads what a box changed from the upper directory of its overlay. Everything there is untrusted.

A whiteout (character device 0:0) deletes the name beneath it, an opaque directory deletes all
that the box did not make anew. Marks are believed only where the kernel alone can have made them:
under ``userxattr`` a box's own ``user.overlay.*`` attributes are stored under another name.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field, replace

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.contents import plain_node, read_node
from orchestrator.workspace.git_names import moved_repository
from orchestrator.workspace.git_settings import MAX_CONFIG_BYTES, command_settings
from orchestrator.workspace.globs import PathGlobs
from orchestrator.workspace.node import Limits, Node, Observed, is_git_internal
from orchestrator.workspace.origin import ORIGIN, Origin, parse_origin
from orchestrator.workspace.prune import OPAQUE
from orchestrator.workspace.tree import Found, Tree

_NO_MARK = {errno.ENODATA, errno.EOPNOTSUPP}


def read_upper(upper: Tree, host: Tree, *, hidden: PathGlobs, limits: Limits) -> Observed:
    """Return the touched paths as they are on the host and as the box left them."""
    reading = _Reading(upper, host, hidden, limits)
    try:
        reading.run()
    except OSError as err:
        raise WorkspaceError(
            f"{err.filename or upper.root}: the box's changes cannot be read: {err.strerror}",
            hint="end the session's box first; nothing was written",
        ) from err
    return reading.result()


@dataclass(slots=True)
class _Reading:
    upper: Tree
    host: Tree
    hidden: PathGlobs
    limits: Limits
    base: dict[str, Node] = field(default_factory=dict)
    box: dict[str, Node] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    """The host file that a box's file or directory was copied from."""
    inodes: dict[int, str] = field(default_factory=dict)
    """Of everything in ``base``, with a path of it."""
    git_settings: tuple[str, ...] = ()
    inside_git: int = 0
    moved: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    entries: int = 0
    total_bytes: int = 0

    def run(self) -> None:
        waiting = [""]
        while waiting:
            path = waiting.pop()
            for found in self.upper.children(path):
                self._count(found.path)
                if is_git_internal(found.path):
                    self._look_into_git(found)
                elif self._take(found):
                    waiting.append(found.path)

    def result(self) -> Observed:
        """Read contents where they decide something, and return both pictures."""
        sizes = {n.size for p, n in self.box.items() if n.type == "file" and p not in self.base}
        for path, node in self.base.items():
            twin = self.box.get(path)
            same = twin is not None and twin.type == "file" and twin.size == node.size
            moved = twin is None and node.size in sizes
            if node.type == "file" and (same or moved):
                self.base[path] = self._host_content(path, node)
        return Observed(
            base=self.base,
            box=self.box,
            inside_git=self.inside_git,
            git_settings=self.git_settings,
            moved_repositories=frozenset(self.moved),
            copied_up=frozenset(
                path for path, origin in self.origins.items() if not self._stands(origin)
            ),
            kept=frozenset(self.kept),
        )

    def _stands(self, origin: Origin) -> bool:
        """Say whether a host file still is there, at whatever path the box had it from.

        What the box moved or linked has the mark of such a file. An equal inode alone is no sign:
        the host may have deleted the file, and a new one may have got its inode.
        """
        path = self.inodes.get(origin.inode)
        return path is not None and self.host.handle(path) == origin.handle

    def _take(self, found: Found) -> bool:
        """Record one name; True where it is a directory to be read."""
        path = found.path
        if stat.S_ISCHR(found.stat.st_mode) and found.stat.st_rdev == 0:
            self._add_base(path, everything=True)
            return False
        node = plain_node(self.upper, path, found.stat)
        if node.type == "file":
            node = self._file(path, node)
        elif node.type == "directory":
            node = self._directory(path, node)
        self.box[path] = node
        merged = node.type == "directory" and not node.trouble
        self._add_base(path, everything=not merged or self._opaque(path))
        return merged

    def _file(self, path: str, node: Node) -> Node:
        if node.size > self.limits.file_bytes:
            return replace(node, trouble=f"it is larger than {self.limits.file_bytes} bytes")
        self.total_bytes += node.size
        if self.total_bytes > self.limits.bytes:
            raise WorkspaceError(
                f"the box changed more than {self.limits.bytes} bytes; nothing was read back",
                hint="remove large files in the box, or raise sandbox.disk in the policy",
            )
        try:
            with self.upper.file(path) as fd:
                self._note_origin(path, fd)
            return read_node(self.upper, path, node)
        except PermissionError:
            return replace(node, trouble=f"its mode {node.mode:04o} lets nobody read it")

    def _directory(self, path: str, node: Node) -> Node:
        if not self.limits.may_enter(path):
            return replace(node, trouble=self.limits.too_deep)
        try:
            with self.upper.directory(path) as fd:
                self._note_origin(path, fd)
        except PermissionError:
            return replace(node, trouble=f"its mode {node.mode:04o} lets nobody list it")
        return node

    def _note_origin(self, path: str, fd: int) -> None:
        origin = parse_origin(_mark(fd, ORIGIN))
        if origin is not None:
            self.origins[path] = origin

    def _opaque(self, path: str) -> bool:
        with self.upper.directory(path) as fd:
            return _mark(fd, OPAQUE) == b"y"

    def _add_base(self, path: str, *, everything: bool) -> None:
        """Record what the host has at ``path``, and below it when the box sees none of it."""
        info = self.host.lstat(path)
        if info is None or self.hidden.covers(path):
            return
        self._record(path, info)
        if everything and stat.S_ISDIR(info.st_mode):
            for found in self.host.walk(path, enter=self._enter_base):
                self._count(found.path)
                if self._never_seen(found):
                    self._keep(found.path)
                else:
                    self._record(found.path, found.stat)

    def _record(self, path: str, info: os.stat_result) -> None:
        self.base.setdefault(path, plain_node(self.host, path, info))
        self.inodes[info.st_ino] = path

    def _enter_base(self, found: Found) -> bool:
        return not self._never_seen(found)

    def _never_seen(self, found: Found) -> bool:
        mount = found.stat.st_dev != self.host.device
        return mount or is_git_internal(found.path) or self.hidden.match(found.path)

    def _keep(self, path: str) -> None:
        parts = path.split("/")
        self.kept.update("/".join(parts[:count]) for count in range(1, len(parts)))

    def _host_content(self, path: str, node: Node) -> Node:
        try:
            return read_node(self.host, path, node)
        except PermissionError:
            return node

    def _look_into_git(self, found: Found) -> None:
        """Count what is in a ``.git`` of the box, and name the settings that would run something."""
        inside = [found]
        if stat.S_ISDIR(found.stat.st_mode):
            inside = list(self.upper.walk(found.path, enter=self._enter_git))
        for item in inside:
            self._count(item.path)
            self.inside_git += not stat.S_ISDIR(item.stat.st_mode)
            self.moved |= moved_repository(item.path)
            if item.path.lower().endswith(".git/config") and stat.S_ISREG(item.stat.st_mode):
                with self.upper.file(item.path) as fd:
                    text = os.read(fd, MAX_CONFIG_BYTES).decode("utf-8", "replace")
                self.git_settings += command_settings(text)

    def _enter_git(self, found: Found) -> bool:
        return self.limits.may_enter(found.path)

    def _count(self, path: str) -> None:
        self.entries += 1
        if self.entries > self.limits.entries:
            raise WorkspaceError(
                f"the box changed more than {self.limits.entries} names (at {path!r}); "
                "nothing was read back",
                hint="remove generated files in the box and look again",
            )


def _mark(fd: int, name: str) -> bytes:
    """Return one of the kernel's marks, empty where there is none."""
    try:
        return os.getxattr(fd, name)
    except OSError as err:
        if err.errno in _NO_MARK:
            return b""
        raise
