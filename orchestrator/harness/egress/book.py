"""The record of what would leave one session's box: decisions before they count, ends behind them.

A decision is on disk when ``decided`` returns. Once a record cannot be written nothing is let out
any more. Refusals that repeat are counted: a box in a loop must not fill the host's disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from anyio import to_thread

from orchestrator.dispatch.records import AuditSink
from orchestrator.errors import AuditError

EACH_ALIKE = 3
"""Refusals of one kind that have a record each."""
MOST_REFUSED = 5000
"""Different refusals that are told apart; the rest of them are counted together."""

Scrub = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(slots=True)
class _Alike:
    first: int
    """Number of the first record; 0 where there is none."""
    count: int = 0
    written: int = 0


class EgressBook:
    """Writes to one session's chain."""

    def __init__(self, audit: AuditSink, *, scrub: Scrub, on_failure: Callable[[], object]) -> None:
        """``scrub`` takes secrets out; ``on_failure`` hears, once, that there is no record any more."""
        self._audit = audit
        self._scrub = scrub
        self._on_failure = on_failure
        self._refused: dict[Any, _Alike] = {}
        self._ends: deque[tuple[str, Mapping[str, Any]]] = deque()
        self._more = anyio.Event()
        self._closing = False
        self.failed = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write what is only noted, until the end of the block and whatever is left then."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._write_notes)
            try:
                yield
            finally:
                self._count_all()
                self._closing = True
                self._more.set()

    async def decided(self, body: Mapping[str, Any]) -> int:
        """Return the record's number once it is on disk; AuditError where it cannot be."""
        return await self.write("egress", body)

    async def write(self, kind: str, body: Mapping[str, Any]) -> int:
        """Return a record's number once it is on disk; AuditError where it cannot be."""
        return await self._append(kind, body)

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
            seq = await self._append("egress", body)
            alike.first = alike.first or seq
            return seq
        if str(alike.count).strip("0") == "1":
            self._count(alike)
        return None

    def note(self, kind: str, body: Mapping[str, Any]) -> None:
        """Write a record soon; for what is told and permits nothing."""
        self._ends.append((kind, body))
        self._more.set()

    def _count_all(self) -> None:
        for alike in self._refused.values():
            if alike.count > alike.written:
                self._count(alike)

    def _count(self, alike: _Alike) -> None:
        alike.written = alike.count
        self.note("egress_again", {"egress": alike.first or None, "count": alike.count})

    async def _write_notes(self) -> None:
        # Whatever ends the session, what passed until then is told.
        with anyio.CancelScope(shield=True):
            while not (self._closing or self.failed):
                await self._more.wait()
                self._more = anyio.Event()
                await self._drain()
            await self._drain()

    async def _drain(self) -> None:
        while self._ends and not self.failed:
            try:
                await self._append(*self._ends.popleft())
            except AuditError:
                # Nobody waits for this one; everything is closed by ``on_failure``.
                return

    async def _append(self, kind: str, body: Mapping[str, Any]) -> int:
        written = 0
        try:
            with anyio.CancelScope(shield=True):
                written = await to_thread.run_sync(
                    lambda: self._audit.append(kind, self._scrub(body))
                )
        except AuditError:
            if not self.failed:
                self.failed = True
                self._more.set()
                self._on_failure()
            raise
        return written
