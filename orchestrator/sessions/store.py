"""The one writer of a session file: entries in memory at once, on disk in order.

An append that fails says so, and the entry stays waiting: the next append or ``sync`` writes
everything that waits. So a full disk costs nothing but the time until there is space.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from orchestrator.errors import SessionError
from orchestrator.schema.ids import EntryId
from orchestrator.schema.message import Message
from orchestrator.sessions.entry import (
    FORMAT_VERSION,
    Entry,
    EntryType,
    SessionHeader,
    encode_entry,
    encode_header,
    mend_text,
)
from orchestrator.sessions.migration import migrate
from orchestrator.sessions.put_away import WORTH, Span, put_away
from orchestrator.sessions.reading import body_in, read_content
from orchestrator.sessions.tree import EntryTree
from orchestrator.sessions.writer import SessionFileWriter, write_new


def write_copy(path: Path, header: SessionHeader, entries: Iterable[Entry]) -> None:
    """Make a session file with entries of another one, whole or not at all; none is replaced."""
    write_new(path, b"".join((encode_header(header), *map(encode_entry, entries))))


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _brought_up(file: SessionFileWriter, data: bytes, version: int) -> tuple[bytes, str]:
    """Put the file in today's format in place; return its bytes, and what the person is told."""
    fresh = migrate(data, version)
    backup = file.path.with_name(f"{file.path.name}.v{version}")
    file.put_in_place(fresh, backup)
    return fresh, f"the format is now {FORMAT_VERSION}; as it was, the file is {backup.name}"


class SessionStore:
    """One session, open for its one writer."""

    def __init__(
        self, file: SessionFileWriter, header: SessionHeader, *, now: Callable[[], datetime]
    ) -> None:
        """Take over a locked file; use ``create`` or ``open``."""
        self.path = file.path
        self.header = header
        self.warnings: list[str] = []
        """What was found damaged on opening, one line each, for the person."""
        self._file = file
        self._waiting: list[bytes] = []
        self._spans: dict[EntryId, Span] = {}
        self._tree = EntryTree()
        self._now = now

    @classmethod
    def create(
        cls, path: Path, header: SessionHeader, *, now: Callable[[], datetime] = _utc_now
    ) -> SessionStore:
        """Begin a session file, mode 0600; one that exists is refused."""
        store = cls(SessionFileWriter.create(path), header, now=now)
        try:
            store._waiting.append(encode_header(header))
            store.sync()
        except BaseException:
            store._file.close()
            raise
        return store

    @classmethod
    def open(cls, path: Path, *, now: Callable[[], datetime] = _utc_now) -> SessionStore:
        """Open a session to go on with; ``warnings`` tells what was damaged.

        Raises SessionBusy when another process has it, SessionError when it is no session.
        """
        file = SessionFileWriter.open(path)
        try:
            return cls._loaded(file, now)
        except BaseException:
            file.close()
            raise

    @classmethod
    def _loaded(cls, file: SessionFileWriter, now: Callable[[], datetime]) -> SessionStore:
        data = file.read()
        content = read_content(data, name=file.path.name)
        told: list[str] = []
        if content.header_seen and content.header.version != FORMAT_VERSION:
            data, word = _brought_up(file, data, content.header.version)
            told.append(word)
            content = read_content(data, name=file.path.name)
        store = cls(file, content.header, now=now)
        store.warnings += [*file.warnings, *told, *content.warnings]
        if content.tail_missing_newline:
            store._waiting.append(b"\n")
        elif content.good_size < len(data):
            store.warnings.append(file.move_tail_aside(content.good_size))
        if content.is_new:
            store._waiting.append(encode_header(content.header))
        store._tree = EntryTree(content.entries)
        store._spans = content.spans
        put_away(store._tree, store._spans, store._body)
        return store

    @property
    def tree(self) -> EntryTree:
        """All entries and the current leaf."""
        return self._tree

    @property
    def waiting(self) -> int:
        """How many lines are in memory only, because the disk refused them."""
        return len(self._waiting)

    def append(
        self, entry_type: EntryType, body: Mapping[str, Any], parent: EntryId | None = None
    ) -> EntryId:
        """Add an entry below ``parent``, or below the current leaf, and write it without fsync.

        When the disk refuses it, SessionError is raised and the entry is kept, as everything
        after it, until ``sync`` or the next append gets through: do not append it again.
        """
        entry = Entry(
            id=self._new_id(),
            parent=self._tree.leaf if parent is None else parent,
            type=entry_type,
            time=self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            body=mend_text(body),
        )
        self._tree.check(entry)
        line = encode_entry(entry)
        self._tree.add(entry)
        self._waiting.append(line)
        at = self._file.size + sum(map(len, self._waiting[:-1]))
        if len(line) >= WORTH:
            self._spans[entry.id] = at, len(line)
        self._write_waiting()
        if entry.type == "compaction":
            put_away(self._tree, self._spans, self._body)
        return entry.id

    def sync(self) -> None:
        """Return when every entry is on disk; raises SessionError while one is not."""
        self._write_waiting()
        self._file.sync()

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation along the current leaf's path, fit to be sent."""
        return self._tree.messages()

    def close(self) -> None:
        """Sync, then give the file and its lease up; a second time does nothing."""
        if self._file.is_closed:
            return
        try:
            self.sync()
        except SessionError as err:
            if self._waiting:
                err.hint = f"the last {self.waiting} entries were never written and are lost now"
            raise
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        """Return the store; leaving closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def _write_waiting(self) -> None:
        if self._waiting:
            try:
                self._file.append(b"".join(self._waiting))
            except SessionError as err:
                err.hint = f"{self.waiting} entries wait in memory; free space and they are written"
                raise
            self._waiting.clear()

    def _body(self, entry: EntryId, span: Span) -> Mapping[str, Any] | None:
        return body_in(self._file.read_at(*span), entry)

    def _new_id(self) -> EntryId:
        while True:
            entry_id = EntryId(secrets.token_hex(6))
            if entry_id not in self._tree.by_id:
                return entry_id
