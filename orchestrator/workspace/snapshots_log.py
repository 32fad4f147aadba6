"""The snapshots of one session, oldest first, each a file that says what is other than before.

A snapshot's file appears whole or not at all. The oldest one holds everything; each later one
only the names that changed, so its cost is that of the change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.workspace.snapshots_file import read_snapshot, write_snapshot
from orchestrator.workspace.snapshots_piece import Piece
from orchestrator.workspace.snapshots_words import Delta, Snapshot

_NAME = re.compile(r"[0-9]{6}\.json")
_WIDTH = 6


@dataclass(slots=True)
class SnapshotLog:
    """The files of a folder; ``state`` is the newest snapshot's whole layer."""

    folder: Path
    snapshots: list[Snapshot] = field(default_factory=list)
    state: dict[str, Piece] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> SnapshotLog:
        """Read all snapshots; what was cut off is removed. WorkspaceError for a broken one."""
        log = cls(folder)
        if folder.exists():
            for torn in folder.glob("*.new"):
                torn.unlink()
        for path in log._files():
            snapshot, delta = read_snapshot(path)
            log.snapshots.append(snapshot)
            _fold(log.state, delta)
        return log

    def append(self, snapshot: Snapshot, delta: Delta) -> None:
        """Add a snapshot; it is on the disk when this returns."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_snapshot(self._path(snapshot.number), snapshot, delta)
        self.snapshots.append(snapshot)
        _fold(self.state, delta)

    @property
    def next_number(self) -> int:
        """The number of the next snapshot; numbers are never used twice."""
        return self.snapshots[-1].number + 1 if self.snapshots else 1

    def delta(self, number: int) -> Delta:
        """Return what one snapshot's file holds."""
        return read_snapshot(self._path(number))[1]

    def state_at(self, number: int) -> dict[str, Piece]:
        """Return the whole layer of one snapshot."""
        state: dict[str, Piece] = {}
        for snapshot in self.snapshots:
            if snapshot.number <= number:
                _fold(state, self.delta(snapshot.number))
        return state

    def below_since(self, number: int) -> dict[str, Piece | None]:
        """Return what lay on the host at a snapshot, at all paths that were applied since."""
        found: dict[str, Piece | None] = {}
        for snapshot in self.snapshots:
            if snapshot.number > number:
                found = {**self.delta(snapshot.number).below, **found}
        return found

    def drop_oldest(self) -> Snapshot:
        """Forget the oldest snapshot; what it held goes over into the one after it."""
        first, second = self.snapshots[:2]
        state = self.state_at(second.number)
        below = self.delta(second.number).below
        write_snapshot(self._path(second.number), second, Delta(state, below, whole=True))
        self._path(first.number).unlink()
        return self.snapshots.pop(0)

    def digests(self) -> set[str]:
        """Return the digests of all contents that a snapshot names."""
        found: set[str] = set()
        for snapshot in self.snapshots:
            delta = self.delta(snapshot.number)
            both = (*delta.pieces.values(), *delta.below.values())
            found.update(piece.sha256 for piece in both if piece is not None)
        return found

    def _files(self) -> list[Path]:
        if not self.folder.exists():
            return []
        return sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:0{_WIDTH}}.json"


def _fold(state: dict[str, Piece], delta: Delta) -> None:
    if delta.whole:
        state.clear()
    for path, piece in delta.pieces.items():
        if piece is None:
            state.pop(path, None)
        else:
            state[path] = piece
