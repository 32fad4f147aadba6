"""What a copy's volume held when it was read, kept so that it is not read again while it rests.

Only what is other than the manifest is written down. It is a cache: where anything about it is
not as it was left, the volume is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.workspace.manifest import Original, node_fields
from orchestrator.workspace.node import Node, Outcome
from orchestrator.workspace.spool import Spool

_PICTURE = "picture.jsonl"


@dataclass(frozen=True, slots=True)
class Picture:
    """One reading of a volume."""

    volume: str
    rest: str
    """The word under which nothing wrote; see ``at_rest``."""
    contents: Mapping[str, int]
    """Bytes of the contents that were kept, by digest."""
    differing: Mapping[str, Node | None]
    """By path, what is other than what went in; None for what is gone."""

    def whole(self, originals: Mapping[str, Original]) -> dict[str, Node]:
        """Return every node, by path."""
        found = {path: item.node for path, item in originals.items() if path not in self.differing}
        return found | {path: node for path, node in self.differing.items() if node is not None}


def take_picture(
    box: Mapping[str, Node], originals: Mapping[str, Original], spool: Spool, *, of: tuple[str, str]
) -> Picture:
    """Return the picture of what was just read; ``of`` is the volume and the word of its rest."""
    differing: dict[str, Node | None] = {
        path: node
        for path, node in box.items()
        if (original := originals.get(path)) is None or original.node != node
    }
    differing |= {path: None for path in originals if path not in box}
    return Picture(*of, contents=spool.sizes(), differing=differing)


def save_picture(folder: Path, picture: Picture) -> None:
    """Replace the session's picture in one step."""
    temporary = folder / f"{_PICTURE}.new"
    head = {"volume": picture.volume, "rest": picture.rest, "contents": dict(picture.contents)}
    with temporary.open("w", encoding="ascii") as file:
        file.write(json.dumps(head) + "\n")
        for path, node in picture.differing.items():
            file.write(json.dumps([path, node and node_fields(node)]) + "\n")
        file.write('"end"\n')
    temporary.replace(folder / _PICTURE)


def load_picture(folder: Path, spool: Spool, *, of: tuple[str, str]) -> Picture | None:
    """Return the picture of this volume at this rest; None where there is none to rely on."""
    if not all(of):
        return None
    try:
        first, *rows, end = (folder / _PICTURE).read_text("ascii").splitlines()
        head = json.loads(first)
        differing = {path: node and Node(**node) for path, node in map(json.loads, rows)}
        picture = Picture(head["volume"], head["rest"], head["contents"], differing)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    if end != '"end"' or (picture.volume, picture.rest) != of:
        return None
    # A crash of the machine may have taken contents that were not on its disk yet.
    there = spool.sizes()
    held = all(there.get(digest) == size for digest, size in picture.contents.items())
    return picture if held else None


def keep_picture(folder: Path, outcome: Outcome) -> None:
    """Drop a picture that would not hold once the manifest says what was applied."""
    try:
        rows = (folder / _PICTURE).read_text("ascii").splitlines()[1:-1]
        named = {path for path, _ in map(json.loads, rows)}
    except (OSError, ValueError, TypeError):
        named = set()
    if not outcome.now.keys() <= named:
        drop_picture(folder)


def drop_picture(folder: Path) -> None:
    """Have the volume read next time."""
    (folder / _PICTURE).unlink(missing_ok=True)
