"""Which new names of an archive are left in the box where there are too many to hold. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

_WORTH = 10
"""A directory with this part of all is left in favour of the others, so that one heap of generated
files does not take their places; with less, it is the last ones that are left."""


@dataclass(slots=True)
class Surplus:
    """Counts new names by directory; true once any was left."""

    most: int
    _files: dict[str, list[str]] = field(default_factory=dict)
    """Those taken that are no directories, by the directory they are in."""
    _count: int = 0
    _left: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By directory, a name that was left and how many there are."""

    def __bool__(self) -> bool:
        """True once any name was left."""
        return bool(self._left)

    def leave(self, path: str, directory: str) -> None:
        """Count a name that is not read; ``directory`` is the nearest one that is."""
        sample, count = self._left.get(directory, (path, 0))
        self._left[directory] = (sample, count + 1)

    def take(self, path: str, directory: str, *, is_directory: bool) -> bool:
        """Say whether a new name has room; it is counted either way."""
        crowded = directory in self._left and not is_directory
        if crowded or self._count >= self.most:
            self.leave(path, directory)
            return False
        self._count += 1
        if not is_directory:
            self._files.setdefault(directory, []).append(path)
        return True

    def make_room(self) -> list[str]:
        """Return the names that are left after all, of one directory; empty while there is room."""
        if self._count < self.most or not self._files:
            return []
        crowd = max(self._files, key=lambda directory: len(self._files[directory]))
        if _WORTH * len(self._files[crowd]) < self.most:
            return []
        gone = self._files.pop(crowd)
        sample, count = self._left.get(crowd, (gone[0], 0))
        self._left[crowd] = (sample, count + len(gone))
        self._count -= len(gone)
        return gone

    def samples(self) -> Iterator[tuple[str, int]]:
        """Yield one of the names that were left for each directory, with their number."""
        yield from self._left.values()
