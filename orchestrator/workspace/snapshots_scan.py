"""What a layer holds now, against what the newest snapshot knows: only what changed is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import Limits, NodeType, Signature
from orchestrator.workspace.snapshots_contents import Contents
from orchestrator.workspace.snapshots_piece import Piece, PieceType

_YOUNG_NS = 100_000_000
"""A kernel's clock for files ticks every 1 to 10 ms: two writes in one tick look like one. A state
older than this many nanoseconds when it was read is not looked at again."""


class Moving(Exception):  # noqa: N818 - reads as what it is
    """Raised when a name changed while it was read: something in the box writes."""


@dataclass(frozen=True, slots=True)
class Met:
    """One name met on a walk, before anything of it is read."""

    path: str
    type: NodeType
    seen: Signature | None
    """None where the layer cannot tell whether a name changed."""
    uid: int
    gid: int
    group: str = ""
    """Equal for all names of one file; empty where it surely has no other."""
    whiteout: bool = False
    lost: str = ""
    """Why it cannot be read or listed."""
    target: str = ""
    """Of a symlink, where the walk tells it."""


class Layer(Protocol):
    """Where a box's files are: the upper directory of an overlay, or a volume."""

    @property
    def now_ns(self) -> int:
        """The layer's own clock at the start of the walk."""
        ...

    def walk(self) -> Iterator[Met]:
        """Yield the root as ``""`` and every name below; a directory before what is in it."""
        ...

    def read(self, met: Met, contents: Contents) -> Piece:
        """Read a name just met, and keep a file's content; Moving where it is another by now."""
        ...


def scan(
    layer: Layer, known: Mapping[str, Piece], contents: Contents, *, limits: Limits
) -> dict[str, Piece]:
    """Return the whole layer; Moving, or OSError, where it did not hold still."""
    trusted_before = layer.now_ns - _YOUNG_NS
    found: dict[str, Piece] = {}
    names: defaultdict[str, list[str]] = defaultdict(list)
    unseen: set[str] = set()
    for met in layer.walk():
        if len(found) > limits.entries + len(known) + 1:
            raise WorkspaceError(
                f"the box made more than {limits.entries} names; no snapshot was taken",
                hint="remove generated files in the box; until then there is no going back here",
            )
        old = known.get(met.path)
        if old is not None and met.seen is not None and old.seen == met.seen and not met.lost:
            piece = old
        else:
            piece = layer.read(met, contents)
            old_enough = met.seen is not None and met.seen.ctime_ns < trusted_before
            piece = replace(piece, seen=met.seen if old_enough else None)
        found[met.path] = piece
        if met.type == "directory" and met.lost:
            unseen.add(met.path)
        if met.group and met.type == "file":
            names[met.group].append(met.path)
    if unseen:
        _carry_over(known, found, unseen, most=2 * limits.entries)
    for paths in names.values():
        first = min(paths)
        for path in paths:
            twin = "" if path == first else first
            if found[path].twin != twin:
                found[path] = replace(found[path], twin=twin)
    return found


def _carry_over(
    known: Mapping[str, Piece], found: dict[str, Piece], unseen: set[str], *, most: int
) -> None:
    """Take what was known below directories that could not be listed as still there."""
    for path, piece in known.items():
        if len(found) >= most:
            return
        parts = path.split("/")
        above = ("/".join(parts[:count]) for count in range(len(parts)))
        if path not in found and any(directory in unseen for directory in above):
            found[path] = piece


def changed(known: Mapping[str, Piece], found: Mapping[str, Piece]) -> dict[str, Piece | None]:
    """Return the pieces that are other than known, None for those that are gone."""
    pieces: dict[str, Piece | None] = {
        path: piece
        for path, piece in found.items()
        if (old := known.get(path)) is not piece and not piece.same(old)
    }
    pieces |= {path: None for path in known if path not in found}
    return pieces


def piece_of(met: Met, **more: object) -> Piece:
    """Return a piece with what the walk told, and ``more`` of its fields."""
    seen = met.seen
    kind: PieceType = "whiteout" if met.whiteout else met.type
    piece = Piece(
        kind,
        mode=(seen.mode & 0o7777) if seen else 0,
        uid=met.uid,
        gid=met.gid,
        mtime_ns=seen.mtime_ns if seen else 0,
        size=seen.size if seen and kind == "file" else 0,
        target=met.target,
        lost=met.lost,
    )
    return replace(piece, **more)  # type: ignore[arg-type]
