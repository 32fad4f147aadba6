"""One name of a snapshot: everything needed to make it again just as it was. Data, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from orchestrator.workspace.node import Signature
from orchestrator.workspace.prune import OPAQUE

_OPAQUE = (OPAQUE, b"y".hex())

PieceType = Literal["file", "directory", "symlink", "fifo", "socket", "device", "whiteout"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A name's attributes; a file's content is kept apart, under its digest."""

    type: PieceType
    mode: int
    """Permission bits, the upper three included."""
    uid: int
    gid: int
    mtime_ns: int
    size: int = 0
    sha256: str = ""
    """Lower-case hex; only of files."""
    target: str = ""
    """Where a symlink points, as stored."""
    marks: tuple[tuple[str, str], ...] = ()
    """Extended attributes: name and value in hex."""
    twin: str = ""
    """The path, first in order, that is a hard link to the same file; empty for that one."""
    lost: str = ""
    """Why the content could not be kept; empty where it was."""
    seen: Signature | None = None
    """The name's state when it was read; None where an equal one later proves nothing."""

    def same(self, other: Piece | None) -> bool:
        """True where making either gives the same."""
        return other is not None and replace(self, seen=None) == replace(other, seen=None)


Pieces = Mapping[str, Piece]
"""A whole layer by path; ``""`` is its root."""


def whiteout() -> Piece:
    """Return what hides a name of the layer below."""
    return Piece("whiteout", 0, 0, 0, 0)


def is_covered(path: str, layer: Pieces) -> bool:
    """True where the layer alone decides what stands at ``path``, whatever lies below it."""
    if path in layer:
        return True
    parts = path.split("/")
    for count in range(len(parts)):
        above = layer.get("/".join(parts[:count]))
        if above is not None and (above.type != "directory" or is_opaque(above)):
            return True
    return False


def is_opaque(piece: Piece) -> bool:
    """True for a directory that shows nothing of the one below it."""
    return _OPAQUE in piece.marks


def opaque(directory: Piece) -> Piece:
    """Return the directory as one that shows nothing of the one below it."""
    others = tuple(mark for mark in directory.marks if mark[0] != _OPAQUE[0])
    return replace(directory, marks=tuple(sorted((*others, _OPAQUE))), seen=None)


def encode_piece(piece: Piece | None) -> list[Any] | None:
    """Return a piece as JSON data, short because there may be very many."""
    if piece is None:
        return None
    values = [getattr(piece, item.name) for item in fields(Piece)]
    seen = piece.seen
    values[-1] = seen and [seen.inode, seen.mode, seen.size, seen.mtime_ns, seen.ctime_ns]
    return values


def decode_piece(data: list[Any] | None) -> Piece | None:
    """Return the piece in JSON data; TypeError or ValueError where it is none."""
    if data is None:
        return None
    kind, mode, uid, gid, mtime_ns, size, sha256, target, marks, twin, lost, seen = data
    return Piece(
        kind,
        mode,
        uid,
        gid,
        mtime_ns,
        size,
        sha256,
        target,
        tuple((str(name), str(value)) for name, value in marks),
        twin,
        lost,
        Signature(*seen) if seen else None,
    )
