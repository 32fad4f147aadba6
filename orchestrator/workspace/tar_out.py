"""Turns a host directory into a tar stream, following nothing and leaving hidden paths out."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.contents import CHUNK, Digester, plain_node, read_chunks
from orchestrator.workspace.globs import PathGlobs
from orchestrator.workspace.manifest import Original
from orchestrator.workspace.node import PERMISSIONS, Limits, Node, signature, with_content
from orchestrator.workspace.tree import Found, Tree

_BLOCK = tarfile.BLOCKSIZE
_KINDS = {"file": tarfile.REGTYPE, "directory": tarfile.DIRTYPE, "symlink": tarfile.SYMTYPE}


@dataclass(slots=True)
class TarOut:
    """Streams a tree once; afterwards ``originals`` and ``left_out`` tell what went."""

    tree: Tree
    hidden: PathGlobs
    limits: Limits
    owner: tuple[int, int]
    """Uid and gid of every member."""
    prefix: str
    """First component of every member's name."""
    masked: Mapping[str, bytes] = field(default_factory=dict)
    """By path, what goes in place of a file's own content."""
    originals: list[Original] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Paths that could not go, each with the reason; hidden ones are not listed."""

    def stream(self) -> Iterator[bytes]:
        """Yield the archive in large blocks; WorkspaceError when the directory cannot be read."""
        block = bytearray()
        for piece in self._pieces():
            block += piece
            if len(block) >= CHUNK:
                yield bytes(block)
                block.clear()
        yield bytes(block)

    def _pieces(self) -> Iterator[bytes]:
        try:
            root = os.fstat(self.tree.fd)
            yield self._header(Found("", root), Node("directory", root.st_mode & PERMISSIONS))
            for found in self.tree.walk("", enter=self._enter):
                yield from self._member(found)
            yield bytes(2 * _BLOCK)
        except OSError as err:
            raise WorkspaceError(
                f"{self.tree.root}: {err.filename}: cannot be copied: {err.strerror}",
                hint="try again when nothing writes to the directory",
            ) from err

    def _enter(self, found: Found) -> bool:
        if self.hidden.match(found.path):
            return False
        if not self.limits.may_enter(found.path):
            raise WorkspaceError(
                f"{found.path}: expected at most {self.limits.depth} nested directories",
                hint="this directory cannot be copied into a box; use --workspace overlay",
            )
        try:
            with self.tree.directory(found.path):
                return True
        except PermissionError:
            self.left_out.append(f"{found.path}: you may not list it")
            return False

    def _member(self, found: Found) -> Iterator[bytes]:
        if self.hidden.match(found.path):
            return
        node = plain_node(self.tree, found.path, found.stat)
        if found.path in self.masked:
            yield from self._masked(found, node)
        elif node.type == "file":
            yield from self._file(found, node)
        elif node.type not in _KINDS:
            self.left_out.append(f"{found.path}: it is a {node.type}")
        elif found.stat.st_dev != self.tree.device:
            self.left_out.append(f"{found.path}: it is on another file system")
        else:
            yield self._header(found, node)
            self.originals.append(Original(found.path, node, signature(found.stat)))

    def _masked(self, found: Found, node: Node) -> Iterator[bytes]:
        content = self.masked[found.path]
        digester = Digester()
        digester.update(content)
        shown = replace(node, type="file", size=len(content))
        yield self._header(found, shown)
        yield content + bytes(-len(content) % _BLOCK)
        whole = with_content(shown, sha256=digester.sha256, binary=digester.binary)
        self.originals.append(Original(found.path, whole, signature(found.stat)))

    def _file(self, found: Found, node: Node) -> Iterator[bytes]:
        digester = Digester()
        with ExitStack() as stack:
            try:
                fd = stack.enter_context(self.tree.file(found.path))
            except PermissionError:
                self.left_out.append(f"{found.path}: you may not read it")
                return
            yield self._header(found, node)
            for data in read_chunks(fd):
                # What grew meanwhile is cut to the size that the header promised.
                kept = data[: node.size - digester.size]
                digester.update(kept)
                yield kept
        if digester.size < node.size:
            raise WorkspaceError(
                f"{found.path}: it shrank while it was copied",
                hint="try again when nothing writes to the directory",
            )
        yield bytes(-node.size % _BLOCK)
        whole = with_content(node, sha256=digester.sha256, binary=digester.binary)
        self.originals.append(Original(found.path, whole, signature(found.stat)))

    def _header(self, found: Found, node: Node) -> bytes:
        name = f"{self.prefix}/{found.path}".rstrip("/")
        member = tarfile.TarInfo(name)
        member.type = _KINDS[node.type]
        member.size = node.size
        member.mode = node.mode & PERMISSIONS
        # Whole seconds: a fraction would need a second header for every file.
        member.mtime = int(found.stat.st_mtime)
        member.uid, member.gid = self.owner
        member.linkname = node.target
        return member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
