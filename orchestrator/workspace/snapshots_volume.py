"""A copy's volume as a layer of snapshots: one reading of its archive.

An archive tells no inode and no change time, so every file is read; times are whole seconds. What
equals the content known of its path is not kept again.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.manifest import Original
from orchestrator.workspace.node import Limits, NodeType
from orchestrator.workspace.snapshots_contents import Contents
from orchestrator.workspace.snapshots_piece import Piece
from orchestrator.workspace.snapshots_scan import Met
from orchestrator.workspace.tar_header import TarStream

SECOND_NS = 1_000_000_000
_KINDS: dict[bytes, NodeType] = {
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
    tarfile.LNKTYPE: "file",
    tarfile.DIRTYPE: "directory",
    tarfile.SYMTYPE: "symlink",
    tarfile.FIFOTYPE: "fifo",
}

PathOf = Callable[[str], str]
"""A member's path in the workspace; WorkspaceError where it is none."""


@dataclass(slots=True)
class VolumeLayer:
    """The members of one archive, each read before the next is asked for."""

    chunks: Iterable[bytes]
    path_of: PathOf
    limits: Limits
    most_bytes: int
    known: Mapping[str, Piece]
    now_ns: int = 0
    _stream: TarStream = field(init=False)
    _member: tarfile.TarInfo = field(init=False)
    _files: dict[str, Piece] = field(default_factory=dict)
    _kept: int = 0

    def walk(self) -> Generator[Met]:
        """Yield every name in the archive's order."""
        self._stream = archive_of(self.chunks, self.limits, self.known)
        for member in self._stream.members():
            self._member = member
            kind = _KINDS.get(member.type, "device")
            path = self.path_of(member.name)
            if not self.limits.may_name(path):
                continue
            deep = kind == "directory" and path and not self.limits.may_enter(path)
            yield Met(
                path,
                kind,
                None,
                member.uid,
                member.gid,
                group=self.path_of(member.linkname) if member.islnk() else path,
                target=member.linkname if member.issym() else "",
                lost=self.limits.too_deep if deep else "",
            )

    def read(self, met: Met, contents: Contents) -> Piece:
        """Return the member's piece; the content is taken out of the stream."""
        member = self._member
        if member.islnk() and self.limits.may_name(met.group):
            if met.group not in self._files:
                raise WorkspaceError(f"{met.path!r}: it is a hard link to what is no file here")
            return self._files[met.group]
        sha256, lost = "", met.lost
        if member.islnk():
            lost = "it is a hard link to what is nested too deep"
        elif met.type == "file" and member.size > self.most_bytes:
            lost = f"it is larger than {self.most_bytes} bytes"
        elif met.type == "file" and self._kept + member.size > self.limits.bytes:
            lost = f"with it the contents are more than {self.limits.bytes} bytes"
        elif met.type == "file":
            old = self.known.get(met.path)
            unwanted = old.sha256 if old is not None else ""
            kept = contents.keep(self._stream.data(), size=member.size, unwanted=unwanted)
            sha256 = kept.sha256
            self._kept += member.size if sha256 != unwanted else 0
        piece = Piece(
            met.type,
            member.mode & 0o7777,
            met.uid,
            met.gid,
            int(member.mtime) * SECOND_NS,
            size=member.size if met.type == "file" else 0,
            sha256=sha256,
            target=met.target,
            lost=lost,
        )
        if met.type == "file":
            self._files[met.path] = piece
        return piece


@dataclass(slots=True)
class FreshLayer:
    """A copy in which nothing has run: of the archive only the top is read, the rest is known."""

    archive: VolumeLayer
    known: Mapping[str, Piece]
    now_ns: int = 0

    def walk(self) -> Iterator[Met]:
        """Yield the top and what went in."""
        with closing(self.archive.walk()) as members:
            yield next(members)
        for path, piece in self.known.items():
            kind: NodeType = "file" if piece.type == "whiteout" else piece.type
            yield Met(path, kind, None, piece.uid, piece.gid, group=path, target=piece.target)

    def read(self, met: Met, contents: Contents) -> Piece:
        """Return what went in; its contents lie with the host."""
        return self.known[met.path] if met.path else self.archive.read(met, contents)


def archive_of(chunks: Iterable[bytes], limits: Limits, known: Mapping[str, Piece]) -> TarStream:
    """Return the archive's reader, with a bound on what it holds besides the known pieces."""
    return TarStream(iter(chunks), limits.archive_bytes(sum(p.size for p in known.values())))


def first_layer(originals: Iterable[Original], *, uid: int, gid: int) -> dict[str, Piece]:
    """Return the layer of a copy in which nothing has been done yet."""
    found = {}
    for item in originals:
        node = item.node
        # As an engine unpacks it: whole seconds, none before 1970.
        whole = max(0, item.seen.mtime_ns // SECOND_NS * SECOND_NS)
        piece = Piece("directory", node.mode & 0o777, uid, gid, whole)
        if node.type == "file":
            piece = replace(piece, type="file", size=node.size, sha256=node.sha256)
        elif node.type == "symlink":
            piece = replace(piece, type="symlink", target=node.target)
        found[item.path] = piece
    return found
