"""The snapshots of a session's files: one after each turn that changed some, kept within a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import Limits
from orchestrator.workspace.snapshots_contents import Contents
from orchestrator.workspace.snapshots_log import SnapshotLog
from orchestrator.workspace.snapshots_piece import Piece, is_opaque
from orchestrator.workspace.snapshots_scan import Layer, Moving, changed, scan
from orchestrator.workspace.snapshots_words import Delta, Moment, Snapshot

FOLDER = "snapshots"
MOST_BYTES = 2 * 1024**3
"""Of all contents of one session; the disk budget of its box, where that is less."""

ALWAYS = frozenset({"before", "rewound", "apply"})
"""Kinds that are written where nothing had changed too: others lead back to them."""

_TRIES = 3
_PATHS = 20
"""Changed paths that a snapshot names; the rest is in its pieces."""

OpenLayer = Callable[[], AbstractContextManager[Layer]]
StandsBelow = Callable[[str], bool]
"""Says whether the layer below has something at a path, which shows where this one has nothing."""
Salvage = Callable[[str, str], None]
"""Keeps the content, by path and digest, that a layer had from elsewhere and has no more."""
Hold = Callable[[], AbstractContextManager[None]]
"""Stops whatever writes to the layer, for as long as the context lasts."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What one ``take`` did."""

    snapshot: Snapshot | None
    """None where nothing had changed."""
    dropped: tuple[Snapshot, ...] = ()
    """Old ones that had no room any more."""


@dataclass(slots=True)
class Snapshots:
    """One session's; whoever uses it holds the session's lock."""

    folder: Path
    """``snapshots`` in the session's folder."""
    limits: Limits
    log: SnapshotLog
    contents: Contents
    most_bytes: int
    hold: Hold = field(default=nullcontext)

    @classmethod
    def open(cls, session_folder: Path, limits: Limits) -> Snapshots:
        """Load what there is; WorkspaceError where it is broken."""
        folder = session_folder / FOLDER
        return cls(
            folder,
            limits,
            SnapshotLog.load(folder),
            Contents(folder / "contents"),
            most_bytes=min(MOST_BYTES, limits.bytes),
        )

    def take(
        self,
        open_layer: OpenLayer,
        moment: Moment,
        *,
        stands_below: StandsBelow,
        restored: int = 0,
        salvage: Salvage | None = None,
    ) -> Taken:
        """Add a snapshot where files changed, or where it must be told; on disk on return.

        Raises WorkspaceError where the layer cannot be read; the older ones stay good.
        """
        found = self._scan(open_layer)
        pieces = changed(self.log.state, found)
        snapshot = self._describe(pieces, moment, stands_below)
        told = snapshot.added or snapshot.modified or snapshot.deleted
        if salvage is not None:
            for path in pieces:
                old = self.log.state.get(path)
                if old is not None and old.sha256 and not self.contents.has(old.sha256):
                    salvage(path, old.sha256)
        if not self.log.snapshots or told or moment.kind in ALWAYS:
            self.contents.sync()
            whole = not self.log.snapshots
            self.log.append(replace(snapshot, restored=restored), Delta(pieces, whole=whole))
            self._remember(found)
            # A rewind still needs whatever there is.
            dropped = () if moment.kind == "before" else self._keep_budget()
            return Taken(self.log.snapshots[-1], dropped)
        self._remember(found)
        return Taken(None)

    def note_below(self, moment: Moment, below: Mapping[str, Piece | None]) -> None:
        """Keep what the host has where an apply is about to put something else."""
        self.contents.sync()
        snapshot = Snapshot(self.log.next_number, moment, _now(), modified=len(below))
        self.log.append(snapshot, Delta(below=below, whole=not self.log.snapshots))

    def _remember(self, found: Mapping[str, Piece]) -> None:
        """Take over states that can be trusted by now, so that nothing is read twice."""
        for path, piece in found.items():
            if piece.same(self.log.state.get(path)):
                self.log.state[path] = piece

    def tidy(self) -> None:
        """Remove contents that a killed snapshot left without a name."""
        self.contents.drop_all_but(self.log.digests())

    def _scan(self, open_layer: OpenLayer) -> dict[str, Piece]:
        for _ in range(_TRIES):
            try:
                with open_layer() as layer:
                    return scan(layer, self.log.state, self.contents, limits=self.limits)
            except Moving:
                continue
        # Something writes faster than it can be read: it is stopped for the while.
        try:
            with self.hold(), open_layer() as layer:
                return scan(layer, self.log.state, self.contents, limits=self.limits)
        except Moving as err:
            raise WorkspaceError(
                f"{str(err)!r}: it changes faster than it can be read; no snapshot was taken",
                hint="end what writes to it in the box",
            ) from err

    def _describe(
        self, pieces: Mapping[str, Piece | None], moment: Moment, stands_below: StandsBelow
    ) -> Snapshot:
        paths: dict[str, list[str]] = {"added": [], "modified": [], "deleted": []}
        for path, piece in sorted(pieces.items()):
            word = _word(self.log.state.get(path), piece, below=partial(stands_below, path))
            if word and path:
                paths[word].append(path)
        return Snapshot(
            self.log.next_number,
            moment,
            _now(),
            added=len(paths["added"]),
            modified=len(paths["modified"]),
            deleted=len(paths["deleted"]),
            paths=tuple(sorted(chain(*paths.values())))[:_PATHS],
        )

    def _keep_budget(self) -> tuple[Snapshot, ...]:
        dropped: list[Snapshot] = []
        while self.contents.used_bytes > self.most_bytes and len(self.log.snapshots) > 1:
            dropped.append(self.log.drop_oldest())
            self.tidy()
        return tuple(dropped)


def _word(old: Piece | None, new: Piece | None, *, below: Callable[[], bool]) -> str:
    """Return what people call the change, empty where they would see none."""
    before = old.type != "whiteout" if old is not None else below()
    after = new.type != "whiteout" if new is not None else below()
    if before != after:
        return "added" if after else "deleted"
    if not after or _alike(old, new):
        return ""
    return "modified"


def _alike(old: Piece | None, new: Piece | None) -> bool:
    """True for directories that show the same; their times are nobody's work."""
    types = {piece.type for piece in (old, new) if piece is not None}
    if types != {"directory"}:
        return False
    merged = all(piece is None or not is_opaque(piece) for piece in (old, new))
    modes = {piece.mode for piece in (old, new) if piece is not None}
    return merged and (None in {old, new} or len(modes) == 1)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
