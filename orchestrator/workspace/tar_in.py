"""Turns a tar stream that came out of a box into nodes; nothing is ever extracted by name.

A name that tries to leave spoils the whole stream: no engine writes one, so whoever made it means
harm. What is merely of a kind that is not applied becomes a node with its trouble, and so does
what is more than the limits: the rest comes out, and nothing passed over looks deleted.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.git_settings import MAX_CONFIG_BYTES
from orchestrator.workspace.node import Limits, Node, NodeType, is_git_internal, with_content
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.surplus import Surplus
from orchestrator.workspace.tar_header import TarStream

_KINDS: dict[bytes, NodeType] = {
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
    tarfile.DIRTYPE: "directory",
    tarfile.SYMTYPE: "symlink",
    tarfile.FIFOTYPE: "fifo",
    tarfile.CHRTYPE: "device",
    tarfile.BLKTYPE: "device",
}


@dataclass(slots=True)
class TarIn:
    """One reading; ``nodes`` is what the box has, by path."""

    prefix: str
    """First component of every member's name."""
    limits: Limits
    spool: Spool
    known: Callable[[str], str]
    """The digest of the base's content at a path: a content equal to it is not kept."""
    base: Mapping[str, int] = field(default_factory=dict)
    """Bytes of each path that went in: these are read whatever else there is."""
    nodes: dict[str, Node] = field(default_factory=dict)
    _kept: set[str] = field(default_factory=set)
    _total: int = 0
    _beyond: list[str] = field(default_factory=list)
    """Files whose contents are left in the box."""
    _surplus: Surplus = field(init=False)

    def __post_init__(self) -> None:
        """Names that are new are counted apart."""
        self._surplus = Surplus(self.limits.entries)

    def read(self, chunks: Iterable[bytes]) -> dict[str, Node]:
        """Return every node; WorkspaceError when the stream is hostile, cut or too large."""
        stream = TarStream(iter(chunks), self.limits.archive_bytes(sum(self.base.values())))
        for member in stream.members():
            path = self.path_of(member.name)
            if not path or not self.limits.may_name(path) or not self._fits(member, path):
                continue
            node = self._node(member, path)
            self.nodes[path] = (
                self._content(stream, path, node)
                if node.type == "file" and not node.trouble and not member.islnk()
                else node
            )
        for path in self._beyond:
            trouble = self.limits.too_large(len(self._beyond))
            self.nodes[path] = replace(self.nodes[path], trouble=trouble)
        for path, count in self._surplus.samples():
            self.nodes[path] = Node("file", 0, trouble=self.limits.too_many(count))
        return self.nodes

    def path_of(self, name: str) -> str:
        """Return a member's path in the workspace; WorkspaceError when it is not within."""
        parts = name.rstrip("/").split("/")
        if parts[0] != self.prefix:
            raise _hostile(name, f"expected it to begin with {self.prefix}/")
        if any(part in {"", ".", ".."} for part in parts) or "\0" in name:
            raise _hostile(name, "expected plain names between single slashes")
        return "/".join(parts[1:])

    def _fits(self, member: tarfile.TarInfo, path: str) -> bool:
        """Say whether a name is read; WorkspaceError where it cannot be one of an honest archive."""
        if path in self.nodes:
            raise _hostile(member.name, "it comes twice")
        above = path.rpartition("/")[0]
        missing = above and above not in self.nodes
        if (above and not missing and self.nodes[above].type != "directory") or (
            missing and not self._surplus
        ):
            raise _hostile(member.name, "what is above it is no directory of the archive")
        if path in self.base and not missing:
            return True
        if missing:
            self._surplus.leave(path, self._nearest(above))
            return False
        for gone in self._surplus.make_room():
            del self.nodes[gone]
        return self._surplus.take(path, above, is_directory=member.isdir())

    def _nearest(self, directory: str) -> str:
        while directory and directory not in self.nodes:
            directory = directory.rpartition("/")[0]
        return directory

    def _node(self, member: tarfile.TarInfo, path: str) -> Node:
        mode = member.mode & 0o7777
        if member.islnk():
            return self._hard_link(member, mode)
        kind = _KINDS.get(member.type)
        if kind is None:
            return Node("device", mode, trouble="it is of a kind that is not applied")
        if kind == "directory" and not self.limits.may_enter(path):
            return Node(kind, mode, trouble=self.limits.too_deep)
        size = member.size if kind == "file" else 0
        target = member.linkname if kind == "symlink" else ""
        return Node(kind, mode, size=size, target=target)

    def _hard_link(self, member: tarfile.TarInfo, mode: int) -> Node:
        """Take a link to a file of this stream as a copy of it; anything else is refused."""
        try:
            twin = self.nodes.get(self.path_of(member.linkname))
        except WorkspaceError:
            twin = None
        if twin is None or twin.type != "file" or twin.trouble:
            trouble = "it is a hard link to something that is no file of the workspace"
            return Node("file", mode, trouble=trouble)
        if twin.sha256 not in self._kept:
            trouble = f"it is a hard link to {member.linkname}; copy the file in the box instead"
            return replace(twin, links=2, trouble=trouble)
        return replace(twin, links=2)

    def _content(self, stream: TarStream, path: str, node: Node) -> Node:
        unwanted = self.known(path)
        if is_git_internal(path) and not _is_git_config(path, node):
            digest = self.spool.digest(stream.data())
        elif self._total + node.size > self.limits.bytes:
            # Read all the same: what is as it went in is no change.
            digest = self.spool.digest(stream.data())
            if digest.sha256 != unwanted:
                self._beyond.append(path)
        else:
            digest = self.spool.take(stream.data(), size=node.size, unwanted=unwanted)
            if digest.sha256 != unwanted:
                self._total += node.size
                self._kept.add(digest.sha256)
        return with_content(node, sha256=digest.sha256, binary=digest.binary)


def _is_git_config(path: str, node: Node) -> bool:
    return path.lower().endswith(".git/config") and node.size <= MAX_CONFIG_BYTES


def _hostile(name: str, why: str) -> WorkspaceError:
    return WorkspaceError(
        f"the box's archive holds {name!r}: {why}; nothing was read back",
        hint="discard the session, and do not trust what ran in it",
    )
