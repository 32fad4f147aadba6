"""Reading files: what a name is, its digest, and whether it is text."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from orchestrator.workspace.node import Node, node_type, with_content
from orchestrator.workspace.tree import Tree

CHUNK = 256 * 1024
"""Bytes a read; larger ones were not faster."""

_SNIFFED = 8000
"""As git does: a NUL byte among the first this many means binary."""


@dataclass(slots=True)
class Digester:
    """Takes a file's bytes in order and tells its digest and whether it looks binary."""

    _hash: hashlib._Hash = field(default_factory=hashlib.sha256)
    size: int = 0
    binary: bool = False

    def update(self, data: bytes) -> None:
        """Add the next bytes."""
        if self.size < _SNIFFED:
            self.binary = self.binary or b"\0" in data[: _SNIFFED - self.size]
        self.size += len(data)
        self._hash.update(data)

    @property
    def sha256(self) -> str:
        """The digest of all bytes so far, in hex."""
        return self._hash.hexdigest()


def read_chunks(fd: int) -> Iterator[bytes]:
    """Yield a file's bytes from the descriptor's position to the end."""
    while data := os.read(fd, CHUNK):
        yield data


def plain_node(tree: Tree, path: str, info: os.stat_result) -> Node:
    """Return what a name is, without reading a file's content."""
    kind = node_type(info.st_mode)
    return Node(
        type=kind,
        mode=stat.S_IMODE(info.st_mode),
        size=info.st_size if kind == "file" else 0,
        target=tree.read_link(path) if kind == "symlink" else "",
        links=info.st_nlink if kind == "file" else 1,
    )


def read_node(tree: Tree, path: str, node: Node) -> Node:
    """Return a file's node with its digest; OSError when it is not as large as the node says."""
    digester = Digester()
    with tree.file(path) as fd:
        for data in read_chunks(fd):
            digester.update(data)
            if digester.size > node.size:
                break
    if digester.size != node.size:
        raise OSError(errno.EBUSY, "it changed while it was read", path)
    return with_content(node, sha256=digester.sha256, binary=digester.binary)
