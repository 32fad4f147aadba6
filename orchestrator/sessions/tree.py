"""The entries of one session in memory, and the leaf that the conversation stands at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from orchestrator.errors import SessionError
from orchestrator.schema.ids import EntryId
from orchestrator.schema.message import Message
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.projection import project


class EntryTree:
    """Entries by id, in the order they were added; parents come before children."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        """Take entries in file order and replay their moves of the leaf."""
        self._by_id: dict[EntryId, Entry] = {}
        self._leaf: EntryId | None = None
        for entry in entries:
            self.add(entry)

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries, in the order they were added."""
        return tuple(self._by_id.values())

    @property
    def by_id(self) -> Mapping[EntryId, Entry]:
        """All entries by their id."""
        return self._by_id

    @property
    def leaf(self) -> EntryId | None:
        """The entry that the next one follows; None before the first."""
        return self._leaf

    def check(self, entry: Entry) -> None:
        """Raise SessionError where the entry has no place."""
        target = entry.body.get("target") if entry.type == "leaf" else entry.parent
        if entry.id in self._by_id:
            raise SessionError(f"session entry {entry.id}: the id is taken")
        if target is not None and target not in self._by_id:
            raise SessionError(f"session entry {entry.id}: no entry {target} to stand on")

    def add(self, entry: Entry) -> None:
        """Take one more entry, which becomes the leaf or moves it.

        A move to an entry that was lost moves nothing: the conversation stays where it was.
        """
        self._by_id[entry.id] = entry
        if entry.type != "leaf":
            self._leaf = entry.id
            return
        target = entry.body.get("target")
        if target is None or target in self._by_id:
            self._leaf = target

    def hold(self, entry_id: EntryId, body: Mapping[str, Any]) -> None:
        """Have an entry hold an equal body in another way."""
        self._by_id[entry_id] = replace(self._by_id[entry_id], body=body)

    def path(self, leaf: EntryId | None = None) -> tuple[Entry, ...]:
        """Return the entries from the root to a leaf, the current one by default."""
        found: list[Entry] = []
        at = self._leaf if leaf is None else leaf
        while at is not None:
            entry = self._by_id[at]
            found.append(entry)
            at = entry.parent
        return tuple(reversed(found))

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation along the current leaf's path, fit to be sent."""
        return project(self.path())
