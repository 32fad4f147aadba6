"""Bodies that stay on disk: a long session holds in memory what it still tells the model.

What a compaction has summarised, and what lies on other branches, is looked at only when somebody
jumps back, exports or rewinds. Its line in the file is the body then; memory keeps the names and the
short facts, by which entries are told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from orchestrator.errors import SessionError
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.projection import newest_compaction
from orchestrator.sessions.tree import EntryTree

WORTH = 128
"""Bytes of a line from which on its body is put away."""
SHORT = 64
"""Characters of a text that stays in memory."""

_LONG: Any = object()
"""Stands for a value that is on disk only."""

Span = tuple[int, int]
"""Where a line begins in its file, and its length, both in bytes."""
ReadBody = Callable[[EntryId, Span], Mapping[str, Any] | None]
"""Returns an entry's body; None where the line is not that entry's any more."""


class BodyOnDisk(Mapping[str, Any]):
    """An entry's body; a long value is read from the file each time it is asked for."""

    __slots__ = ("_at", "_entry", "_length", "_names", "_read", "_values")

    def __init__(self, entry: Entry, span: Span, read: ReadBody) -> None:
        """Keep the short values of the entry's body; its line stands at ``span``."""
        self._entry = entry.id
        self._names = _shared(tuple(entry.body))
        self._values = tuple(_short(value) for value in entry.body.values())
        self._at, self._length = span
        self._read = read

    def __getitem__(self, name: str) -> Any:
        """Return a value; raises SessionError where the file does not hold it any more."""
        if name not in self._names:
            raise KeyError(name)
        value = self._values[self._names.index(name)]
        if value is not _LONG:
            return value
        body = self._read(self._entry, (self._at, self._length))
        if body is None or name not in body:
            raise SessionError(
                f"session entry {self._entry}: expected it in the {self._length} bytes from byte "
                f"{self._at}, where it was written: something else changed the file",
                hint="end this session; what is still readable is there on the next --resume",
            )
        return body[name]

    def __iter__(self) -> Iterator[str]:
        """Return the names, in the body's order."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return how many values there are."""
        return len(self._names)

    def __repr__(self) -> str:
        """Return the names only."""
        return f"BodyOnDisk({', '.join(self._names)})"


def put_away(tree: EntryTree, spans: dict[EntryId, Span], read: ReadBody) -> None:
    """Leave to the file what the current path does not tell since its newest compaction.

    Nothing is done before the first one. ``spans`` loses what was put away.
    """
    told = _told(tree)
    if told is None:
        return
    for entry_id in [entry_id for entry_id in spans if entry_id not in told]:
        entry, span = tree.by_id[entry_id], spans.pop(entry_id)
        tree.hold(entry_id, BodyOnDisk(entry, span, read))


def _told(tree: EntryTree) -> set[EntryId] | None:
    """Return the entries from the newest compaction's first kept one on; None without one."""
    path = tree.path()
    newest = newest_compaction(path)
    if newest is None:
        return None
    _, start = newest
    return {entry.id for entry in path[start:]}


@lru_cache(maxsize=256)
def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return one tuple for all bodies with the same names: there are few kinds."""
    return names


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= SHORT else _LONG
    return value if value is None or isinstance(value, bool | int | float) else _LONG
