"""Listing one directory."""

from __future__ import annotations

import heapq
import os
import stat
import unicodedata
from collections.abc import Iterator
from typing import Any

from names import shown_name, shown_path
from nearby import not_found
from paths import Place, Roots, placed
from read import kind_of
from refusal import Refusal
from search import BUDGET, open_folder

MAX_LIMIT = 2000

MAX_COMPARED = 50_000
"""Names compared for likeness; a directory with more gets no such warning."""

MAX_PAIRS = 10


def ls(request: dict[str, Any], roots: Roots) -> dict[str, Any]:
    """Return the entries by name without regard to case, dot files too."""
    limit = min(max(1, int(request.get("limit") or 500)), MAX_LIMIT)
    asked = str(request["path"])
    with placed(request, roots, "read") as place:
        if place.status is None:
            raise not_found(place, asked)
        if not place.is_folder:
            raise Refusal("not_regular", f"{asked} is a file, not a directory; use read")
        folder = open_folder(place)
        try:
            place.bear(os.fstat(folder).st_size)
            return _listing(folder, limit, place)
        finally:
            os.close(folder)


def _listing(folder: int, limit: int, place: Place) -> dict[str, Any]:
    counter = _Counter()
    chosen = heapq.nsmallest(limit, counter.count(_names(folder, place)), key=_order)
    entries: list[dict[str, Any]] = []
    budget = BUDGET
    for name in chosen:
        entry = _entry(folder, name)
        budget -= sum(len(str(value).encode()) for value in entry.values()) + 10
        if budget < 0:
            break
        entries.append(entry)
    return {
        "entries": entries,
        "total": counter.total,
        "limited": len(entries) < counter.total,
        "notes": counter.notes(),
    }


class _Counter:
    """Counts names as they pass and notes those that a host may take for one."""

    def __init__(self) -> None:
        self.total = 0
        self.seen: dict[str, bytes] = {}
        self.pairs: list[tuple[bytes, bytes]] = []

    def count(self, names: Iterator[bytes]) -> Iterator[bytes]:
        for name in names:
            self.total += 1
            if self.total <= MAX_COMPARED:
                other = self.seen.setdefault(_merged(name), name)
                if other != name:
                    self.pairs.append((other, name))
            yield name

    def notes(self) -> list[str]:
        return [
            f"{left} and {right} differ only in case or spelling form; "
            "the host's file system may merge them"
            for left, right in (
                sorted((shown_name(a), shown_name(b))) for a, b in self.pairs[:MAX_PAIRS]
            )
        ]


def _merged(name: bytes) -> str:
    return unicodedata.normalize("NFC", os.fsdecode(name)).casefold()


def _order(name: bytes) -> tuple[str, bytes]:
    return os.fsdecode(name).casefold(), name


def _names(folder: int, place: Place) -> Iterator[bytes]:
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            place.bear_names(number)
            yield os.fsencode(entry.name)


def _entry(folder: int, name: bytes) -> dict[str, Any]:
    shown = shown_name(name)
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return {"name": shown, "type": "gone", "size": 0}
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        target = shown_path(os.readlink(name, dir_fd=folder))
        return {"name": shown, "type": "link", "size": status.st_size, "target": target}
    if stat.S_ISDIR(mode):
        return {"name": shown, "type": "directory", "size": 0}
    kind = "file" if stat.S_ISREG(mode) else kind_of(mode)
    return {"name": shown, "type": kind, "size": status.st_size}
