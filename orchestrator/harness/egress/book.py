"""The record of what would leave one session's box: decisions before they count, ends behind them.

A decision is in the chain when ``decided`` returns: the kernel has it, and the disk a moment later.
Waiting for the disk would cost each request more than all else here together. Once a record cannot
be written, or not be brought to disk, nothing is let out any more. Ends are written together.
Refusals that repeat are counted: a box in a loop must not fill the host's disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
from anyio import to_thread

from orchestrator.errors import AuditError, AuditUnavailable

EACH_ALIKE = 3
"""Refusals of one kind that have a record each."""
MOST_REFUSED = 5000
"""Different refusals that are told apart; the rest of them are counted together."""
MOST_TOGETHER = 64
"""Records that are written at one time."""
LATER_S = 0.2
"""How long a record that nobody waits for may wait itself, for one that takes it along."""

OWN_WORDS = frozenset(
    {
        "announced",
        "bytes_down",
        "bytes_up",
        "count",
        "digest",
        "door",
        "duration_ms",
        "effect",
        "egress",
        "generation",
        "inspect",
        "layer",
        "port",
        "refused",
        "rule",
        "scheme",
        "status",
    }
)
"""Fields that hold words and numbers of ours: there is nothing in them to keep out."""

Scrub = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Chain(Protocol):
    """The session's audit; raises AuditUnavailable when records cannot be written."""

    def append_all(self, entries: Sequence[tuple[str, Mapping[str, Any]]], /) -> list[int]:
        """Write records and return their numbers once all are on disk."""
        ...

    def append_soon(self, kind: str, body: Mapping[str, Any], /) -> int:
        """Write a record and return its number once the kernel has it."""
        ...

    def sync(self) -> None:
        """Return once all records are on disk."""
        ...


@dataclass(slots=True)
class _Alike:
    first: int
    """Number of the first record; 0 where there is none."""
    count: int = 0
    written: int = 0


def _unwritten() -> AuditError:
    return AuditUnavailable("what leaves the box cannot be recorded any more")


@dataclass(slots=True)
class _Entry:
    """A record that waits to be written."""

    kind: str
    body: Mapping[str, Any]
    done: anyio.Event = field(default_factory=anyio.Event)
    seq: int = 0
    failure: AuditError | None = field(default_factory=_unwritten)
    """None once it is written, and only then."""


class EgressBook:
    """Writes to one session's chain."""

    def __init__(self, audit: Chain, *, scrub: Scrub, on_failure: Callable[[], object]) -> None:
        """``scrub`` takes secrets out; ``on_failure`` hears, once, that there is no record any more."""
        self._audit = audit
        self._scrub = scrub
        self._on_failure = on_failure
        self._refused: dict[Any, _Alike] = {}
        self._waiting: deque[_Entry] = deque()
        self._more = anyio.Event()
        self._urgent = anyio.Event()
        """Somebody waits for a record, or no more will come."""
        self._open = False
        self._unsynced = False
        self.failed = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write until the end of the block, and whatever is left then."""
        async with anyio.create_task_group() as group:
            self._open = True
            group.start_soon(self._keep_writing)
            try:
                yield
            finally:
                self._count_all()
                self._open = False
                self._more.set()
                self._urgent.set()

    async def decided(self, body: Mapping[str, Any]) -> int:
        """Return the record's number once it is in the chain; AuditError where it cannot be."""
        self._require_open()
        try:
            seq = self._audit.append_soon("egress", self._clean(body))
        except Exception as error:
            self._fail()
            raise _unwritten() from error
        self._unsynced = True
        self._more.set()
        return seq

    async def write(self, kind: str, body: Mapping[str, Any]) -> int:
        """Return a record's number once it is on disk; AuditError where it cannot be."""
        entry = self._put(kind, body)
        self._urgent.set()
        # It is written whatever becomes of who waits for it, so its number is worth a moment.
        with anyio.CancelScope(shield=True):
            await entry.done.wait()
        if entry.failure is not None:
            raise entry.failure
        return entry.seq

    async def refused(self, kind: Any, body: Mapping[str, Any]) -> int | None:
        """Write a refusal, or count one that is like others of its ``kind``; None where counted."""
        if kind not in self._refused and len(self._refused) >= MOST_REFUSED:
            kind = "others"
        alike = self._refused.get(kind)
        if alike is None:
            alike = self._refused[kind] = _Alike(0)
        alike.count += 1
        if alike.count <= EACH_ALIKE and kind != "others":
            alike.written = alike.count
            seq = await self.write("egress", body)
            alike.first = alike.first or seq
            return seq
        if str(alike.count).strip("0") == "1":
            self._count(alike)
        return None

    def note(self, kind: str, body: Mapping[str, Any]) -> None:
        """Write a record soon; for what is told and permits nothing."""
        self._put(kind, body)

    def _put(self, kind: str, body: Mapping[str, Any]) -> _Entry:
        entry = _Entry(kind, self._clean(body))
        try:
            self._require_open()
        except AuditUnavailable:
            entry.done.set()
        else:
            self._waiting.append(entry)
            self._more.set()
        return entry

    def _clean(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        foreign = {key: value for key, value in body.items() if value and key not in OWN_WORDS}
        return {**body, **self._scrub(foreign)}

    def _require_open(self) -> None:
        if self.failed or not self._open:
            raise _unwritten()

    def _fail(self) -> None:
        if not self.failed:
            self.failed = True
            self._on_failure()

    def _count_all(self) -> None:
        for alike in self._refused.values():
            if alike.count > alike.written:
                self._count(alike)

    def _count(self, alike: _Alike) -> None:
        alike.written = alike.count
        self.note("egress_again", {"egress": alike.first or None, "count": alike.count})

    async def _keep_writing(self) -> None:
        # Whatever ends the session, what passed until then is told.
        with anyio.CancelScope(shield=True):
            while self._open or self._waiting or self._unsynced:
                if not self._waiting and not self._unsynced:
                    await self._more.wait()
                if not self._urgent.is_set():
                    with anyio.move_on_after(LATER_S):
                        await self._urgent.wait()
                self._more, self._urgent = anyio.Event(), anyio.Event()
                # What comes meanwhile waits for others in its turn, or each would be synced alone.
                left = len(self._waiting)
                while left:
                    left -= await self._write_some(left)
                await self._bring_to_disk()

    async def _write_some(self, left: int) -> int:
        count = min(left, MOST_TOGETHER)
        entries = [self._waiting.popleft() for _ in range(count)]
        try:
            if not self.failed:
                rows = [(entry.kind, entry.body) for entry in entries]
                seqs = await to_thread.run_sync(self._audit.append_all, rows)
                for entry, seq in zip(entries, seqs, strict=True):
                    entry.seq, entry.failure = seq, None
        except Exception:  # noqa: BLE001 - whatever broke: what is not written has no record
            self._fail()
        finally:
            for entry in entries:
                entry.done.set()
        return count

    async def _bring_to_disk(self) -> None:
        if not self._unsynced:
            return
        self._unsynced = False
        try:
            await to_thread.run_sync(self._audit.sync)
        except Exception:  # noqa: BLE001 - what cannot be brought to disk ends the letting out
            self._fail()
