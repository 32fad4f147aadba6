"""Reads what a box changed from the upper directory of its overlay. Everything there is untrusted.

A whiteout (character device 0:0) deletes the name beneath it, an opaque directory deletes all
that the box did not make anew. Marks are believed only where the kernel alone can have made them:
under ``userxattr`` a box's own ``user.overlay.*`` attributes are stored under another name.

More than the limits is left in the box with its reason, and the rest comes out. What was not read
is never taken for a deletion.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import islice

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.contents import plain_node, read_node
from orchestrator.workspace.git_names import moved_repository
from orchestrator.workspace.git_settings import MAX_CONFIG_BYTES, command_settings
from orchestrator.workspace.globs import PathGlobs
from orchestrator.workspace.node import Limits, Node, Observed, is_git_internal
from orchestrator.workspace.origin import ORIGIN, Origin, parse_origin
from orchestrator.workspace.prune import OPAQUE
from orchestrator.workspace.tree import Crowd, Found, Tree

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
    files: list[str] = field(default_factory=list)
    """Whose contents are still to be read."""
    entries: int = 0
    git_entries: int = 0

    def run(self) -> None:
        # Breadth first: where the names are too many, it is the deep ones that are left.
        waiting = deque([""])
        while waiting:
            path = waiting.popleft()
            for found in self._names(path):
                self.entries += 1
                if is_git_internal(found.path):
                    self._look_into_git(found)
                elif self._take(found):
                    waiting.append(found.path)
        self._read_contents()

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
        if node.trouble and node.type == "directory":
            # Nothing below was looked at, so nothing below is gone.
            self._add_base(path, everything=False)
            return False
        merged = node.type == "directory"
        seen = self._add_base(path, everything=not merged or self._opaque(path))
        return merged and seen

    def _file(self, path: str, node: Node) -> Node:
        if node.size > self.limits.file_bytes:
            return replace(node, trouble=f"it is larger than {self.limits.file_bytes} bytes")
        try:
            with self.upper.file(path) as fd:
                self._note_origin(path, fd)
        except PermissionError:
            return replace(node, trouble=f"its mode {node.mode:04o} lets nobody read it")
        self.files.append(path)
        return node

    def _read_contents(self) -> None:
        """Read the files, but for the largest where all together are more than the limit."""
        total, fitting = 0, set[str]()
        for size, path in sorted((self.box[path].size, path) for path in self.files):
            total += size
            if total > self.limits.bytes:
                break
            fitting.add(path)
        for path in self.files:
            node = self.box[path]
            if path in fitting:
                self.box[path] = read_node(self.upper, path, node)
            else:
                trouble = self.limits.too_large(len(self.files) - len(fitting))
                self.box[path] = replace(node, trouble=trouble)

    def _names(self, path: str) -> list[Found]:
        """Return what is in a directory; of too many, those that the host has and a repository."""
        room = self.limits.entries - self.entries
        crowd = self.upper.crowd(path, most=room, wanted=lambda: self._on_host(path))
        if crowd.sample is not None:
            name, trouble = crowd.sample.path, self.limits.too_many(crowd.left)
            self.box[name] = replace(
                plain_node(self.upper, name, crowd.sample.stat), trouble=trouble
            )
        return crowd.found

    def _on_host(self, directory: str) -> set[str]:
        above = f"{directory}/" if directory else ""
        info = self.host.lstat(directory) if directory else os.fstat(self.host.fd)
        is_directory = info is not None and stat.S_ISDIR(info.st_mode)
        found = self.host.children(directory) if is_directory else []
        return {f"{above}.git", *(item.path for item in found)}

    def _directory(self, path: str, node: Node) -> Node:
        if not self.limits.may_enter(path):
            return replace(node, trouble=self.limits.too_deep)
        try:
            with self.upper.directory(path) as fd:
                # A mode that lets one read the names alone is as closed.
                os.stat(".", dir_fd=fd)
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

    def _add_base(self, path: str, *, everything: bool) -> bool:
        """Record what the host has at ``path``, and below it when the box sees none of it.

        False where that is too much: then the box's version of the path is refused.
        """
        info = self.host.lstat(path)
        if info is None or self.hidden.covers(path):
            return True
        self._record(path, info)
        if not everything or not stat.S_ISDIR(info.st_mode):
            return True
        room = max(0, self.limits.entries - self.entries)
        below = list(islice(self.host.walk(path, enter=self._enter_base), room + 1))
        if len(below) > room:
            node = self.box.get(path, self.base[path])
            self.box[path] = replace(node, trouble=self.limits.too_many_removed)
            return False
        self.entries += len(below)
        for found in below:
            if self._never_seen(found):
                self._keep(found.path)
            else:
                self._record(found.path, found.stat)
        return True

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
        waiting = deque([found])
        while waiting:
            item = waiting.popleft()
            self.git_entries += 1
            self.moved |= moved_repository(item.path)
            if stat.S_ISDIR(item.stat.st_mode):
                crowd = self._in_git(item)
                waiting.extend(crowd.found)
                self.inside_git += crowd.left
                if crowd.left:
                    # A branch may be among what is not looked at.
                    self.moved |= moved_repository(f"{found.path}/HEAD")
                continue
            self.inside_git += 1
            if item.path.lower().endswith(".git/config") and stat.S_ISREG(item.stat.st_mode):
                with self.upper.file(item.path) as fd:
                    text = os.read(fd, MAX_CONFIG_BYTES).decode("utf-8", "replace")
                self.git_settings += command_settings(text)

    def _in_git(self, directory: Found) -> Crowd:
        if not self.limits.may_enter(directory.path):
            return Crowd([])
        room = self.limits.entries - self.git_entries
        try:
            return self.upper.crowd(directory.path, most=room, wanted=frozenset)
        except PermissionError:
            # Nothing in there is applied file by file, so nothing is lost by not looking.
            return Crowd([])


def _mark(fd: int, name: str) -> bytes:
    """Return one of the kernel's marks, empty where there is none."""
    try:
        return os.getxattr(fd, name)
    except OSError as err:
        if err.errno in _NO_MARK:
            return b""
        raise
