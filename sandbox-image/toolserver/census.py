"""Counts what a session keeps on disk, and names what it could not look into; loaded in workers.

``nameless`` adds the files that have no name any more.
"""

from __future__ import annotations

import os
import stat
from typing import Any, NamedTuple

CLOCK_STEP = 0.1
"""Seconds that a file system's clock may be behind."""
DEEPEST = 512
"""Directories within each other; each costs a descriptor."""
MOST_NAMED = 3
MOST_LARGE = 3
_BLOCK = 512
_SHOWN = 200
"""Characters of a path: one may be longer than any message."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class _Level(NamedTuple):
    descriptor: int
    shown: str
    waiting: list[str]
    """Names of the directories in it that are still to be counted."""


class Census:
    """One count, from the first tree to ``answer``."""

    def __init__(self, since: float, skipped: set[int]) -> None:
        """Count what changed since then; not what lies on the devices that are counted apart."""
        self._since = since
        self._skipped = skipped
        self._seen: set[tuple[int, int]] = set()
        self._size = 0
        self._before = 0
        self._files = 0
        self._unsure: list[str] = []
        self._held: dict[str, int] = {}
        """Bytes in each place that lies directly in a counted tree."""
        self._named: dict[str, int] = {}
        """Names that changed in each, where they are counted."""

    def answer(self) -> dict[str, Any]:
        """Return ``size`` and ``before``, its part from before the session, in bytes; and more.

        ``files`` are the names that changed where they are counted, ``unsure`` a few of what could
        not be looked into, ``largest`` the places that hold most (a path and bytes each) and
        ``fullest`` those with most names.
        """
        unsure = list(dict.fromkeys(self._unsure))
        more = [f"{len(unsure) - MOST_NAMED} more"] if len(unsure) > MOST_NAMED else []
        return {
            "size": self._size,
            "before": self._before,
            "files": self._files,
            "unsure": unsure[:MOST_NAMED] + more,
            "largest": _most(self._held),
            "fullest": _most(self._named),
        }

    def doubt(self, what: str) -> None:
        """Note something that may hold what nobody can count."""
        self._unsure.append(what[:_SHOWN])

    def add(self, status: os.stat_result, place: str = "") -> None:
        """Count a file once, however many names it has; ``place`` is what holds it, if known."""
        if status.st_nlink != 1 and not stat.S_ISDIR(status.st_mode):
            key = (status.st_dev, status.st_ino)
            if key in self._seen:
                return
            self._seen.add(key)
        self._size += status.st_blocks * _BLOCK
        if place:
            self._held[place] = self._held.get(place, 0) + status.st_blocks * _BLOCK
        if not self._is_new(status):
            self._before += status.st_blocks * _BLOCK

    def count_tree(self, root: str, *, every: bool, as_files: bool) -> None:
        """Count what changed below ``root``, or all of it; ``as_files`` counts its names too.

        By descriptors, so that no path is too long, and no link is followed.
        """
        levels: list[_Level] = []
        self._enter(levels, root, root, (every, as_files))
        while levels:
            level = levels[-1]
            if level.waiting:
                name = level.waiting.pop()
                self._enter(levels, name, f"{level.shown}/{name}"[:_SHOWN], (every, as_files))
            else:
                os.close(level.descriptor)
                levels.pop()

    def _enter(self, levels: list[_Level], name: str, shown: str, how: tuple[bool, bool]) -> None:
        above = levels[-1].descriptor if levels else None
        if len(levels) >= DEEPEST:
            self.doubt(f"{shown}, nested deeper than {DEEPEST} directories")
            return
        try:
            descriptor = os.open(name, _DIRECTORY, dir_fd=above)
            levels.append(_Level(descriptor, shown, []))
            if os.fstat(descriptor).st_dev not in self._skipped:
                self._list(levels, how)
        except FileNotFoundError:
            return
        except OSError:
            if _can_be_filled(name, above):
                self.doubt(shown)

    def _list(self, levels: list[_Level], how: tuple[bool, bool]) -> None:
        every, as_files = how
        level = levels[-1]
        within = levels[1].shown if len(levels) > 1 else ""
        with os.scandir(level.descriptor) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    level.waiting.append(entry.name)
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                new = self._is_new(status)
                place = within or f"{level.shown}/{entry.name}"
                if new and as_files:
                    self._files += 1
                    self._named[place] = self._named.get(place, 0) + 1
                if every or new:
                    self.add(status, place)

    def _is_new(self, status: os.stat_result) -> bool:
        # The change time cannot be set by a command.
        return status.st_ctime >= self._since - CLOCK_STEP


def _most(held: dict[str, int]) -> list[tuple[str, int]]:
    places = sorted(held.items(), key=lambda item: item[1], reverse=True)
    return [(place[:_SHOWN], count) for place, count in places[:MOST_LARGE]]


def _can_be_filled(name: str, above: int | None) -> bool:
    """Say whether a command can reach into a directory that it cannot list.

    Its owner can change its mode at any time. What is neither its own nor open to it, such as a
    database's directory of another user, holds nothing of it.
    """
    try:
        status = os.stat(name, dir_fd=above, follow_symlinks=False)
        if status.st_uid == os.geteuid():
            return True
        return os.access(name, os.X_OK, dir_fd=above)
    except FileNotFoundError:
        return False
    except OSError:
        return True
