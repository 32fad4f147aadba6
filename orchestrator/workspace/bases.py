"""Keeps what the host had where a box changed it, so that later work of both can be merged.

A text is kept the first time that somebody looks at the change while the host still has what the
box began with. One file of contents and one of places: a thousand bases are two writes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from orchestrator.errors import WorkspaceError

MOST_BYTES = 1024 * 1024
"""Of one text; larger ones are never merged."""
_MOST_ALL = 256 * 1024 * 1024
"""Of all texts together; whatever comes later has no base, and conflicts as it is."""


@dataclass(frozen=True, slots=True)
class Base:
    """A text that both sides began with."""

    data: bytes
    mode: int
    sha256: str


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    size: int
    mode: int
    sha256: str


@dataclass(slots=True)
class Bases:
    """The bases of one session; ``save`` makes what was added last."""

    folder: Path
    _places: dict[str, _Place] = field(default_factory=dict)
    _new: list[bytes] = field(default_factory=list)
    _end: int = 0
    _changed: bool = False

    @classmethod
    def load(cls, folder: Path) -> Bases:
        """Return a session's bases; WorkspaceError when their record is broken."""
        path = folder / "bases.json"
        found = cls(folder)
        try:
            data = json.loads(path.read_text("ascii"))
            found._places = {name: _Place(**place) for name, place in data.items()}
            found._end = (folder / "bases").stat().st_size
        except FileNotFoundError:
            return cls(folder)
        except (OSError, ValueError, TypeError, AttributeError) as err:
            raise WorkspaceError(
                f"{path}: the record of what files began with cannot be read: {err}",
                hint="remove this file; changes to files that you edited since then will conflict",
            ) from err
        return found

    def paths(self) -> list[str]:
        """Return the paths that have a base."""
        return list(self._places)

    def digest(self, path: str) -> str:
        """Return the digest of a path's base, empty where there is none."""
        place = self._places.get(path)
        return place.sha256 if place is not None else ""

    def add(self, path: str, base: Base) -> None:
        """Take a base; one that there is no room for is left out."""
        if len(base.data) > MOST_BYTES or self._end + len(base.data) > _MOST_ALL:
            return
        self._places[path] = _Place(self._end, len(base.data), base.mode, base.sha256)
        self._new.append(base.data)
        self._end += len(base.data)
        self._changed = True

    def find(self, path: str) -> Base | None:
        """Return a saved base, None where there is none or its file was damaged."""
        place = self._places.get(path)
        if place is None:
            return None
        with (self.folder / "bases").open("rb") as file:
            file.seek(place.start)
            data = file.read(place.size)
        whole = hashlib.sha256(data).hexdigest() == place.sha256
        return Base(data, place.mode, place.sha256) if whole else None

    def forget(self, paths: Iterable[str]) -> None:
        """Drop the bases of paths that host and box agree about again."""
        for path in paths:
            if self._places.pop(path, None) is not None:
                self._changed = True

    def save(self) -> None:
        """Write what changed; contents first, so that no place speaks of what is not there."""
        if not self._changed:
            return
        contents, places = self.folder / "bases", self.folder / "bases.json"
        if self._new:
            with contents.open("ab") as file:
                file.write(b"".join(self._new))
                file.flush()
                os.fsync(file.fileno())
        temporary = places.with_suffix(".new")
        temporary.write_text(
            json.dumps({path: asdict(place) for path, place in self._places.items()}), "ascii"
        )
        temporary.replace(places)
        self._new.clear()
        self._changed = False
