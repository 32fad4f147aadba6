"""One snapshot's file: JSON, replaced in one step, read back with distrust."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.snapshots_piece import decode_piece, encode_piece
from orchestrator.workspace.snapshots_words import Delta, Moment, Snapshot


def write_snapshot(path: Path, snapshot: Snapshot, delta: Delta) -> None:
    """Put a snapshot in its place, whole; it is on the disk when this returns."""
    data = {
        **asdict(snapshot),
        "whole": delta.whole,
        "pieces": {name: encode_piece(piece) for name, piece in delta.pieces.items()},
        "below": {name: encode_piece(piece) for name, piece in delta.below.items()},
    }
    temporary = path.with_suffix(".new")
    with temporary.open("w", encoding="ascii") as file:
        # Names that are no UTF-8 are kept by JSON's own escapes.
        json.dump(data, file, separators=(",", ":"))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def read_snapshot(path: Path) -> tuple[Snapshot, Delta]:
    """Return what a file holds; WorkspaceError where it is broken."""
    try:
        data: dict[str, Any] = json.loads(path.read_text("ascii"))
        pieces = {name: decode_piece(piece) for name, piece in data.pop("pieces").items()}
        below = {name: decode_piece(piece) for name, piece in data.pop("below").items()}
        whole = bool(data.pop("whole"))
        snapshot = Snapshot(**data)
        moment = Moment(**data["moment"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as err:
        raise WorkspaceError(
            f"{path}: a snapshot cannot be read: {err}",
            hint="move the folder it is in away; later turns are then kept in a new one",
        ) from err
    return replace(snapshot, moment=moment, paths=tuple(snapshot.paths)), Delta(
        pieces, below, whole
    )
