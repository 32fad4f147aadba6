"""Snapshots of a running session: after each turn, while the model thinks about the next.

A snapshot that fails is told and the run goes on: it is a convenience, no control.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from orchestrator.dispatch.batch import Keep
from orchestrator.errors import GloveboxError
from orchestrator.loop.seams import ToolRunner
from orchestrator.schema.event import ErrorRaised, Observer, SnapshotTaken
from orchestrator.schema.message import ToolCall, ToolResult
from orchestrator.workspace.rewind import FileHistory
from orchestrator.workspace.snapshots import Taken
from orchestrator.workspace.snapshots_words import Moment

READERS = frozenset({"read", "grep", "find", "ls"})
"""Tools that change no file; where looking is costly, it is left out after them."""


@dataclass(slots=True)
class TurnHistory:
    """One session's; ``now`` tells where the conversation stands."""

    files: FileHistory
    observe: Observer
    now: Callable[[], Moment]
    group: TaskGroup
    _pending: anyio.Event | None = None
    _failed: set[str] = field(default_factory=set)

    def begin(self) -> None:
        """Start on a snapshot of now; ``wait`` returns when it is on the disk."""
        if self.files.is_kept:
            done = self._pending = anyio.Event()
            self.group.start_soon(self._take, self.now(), done)

    async def wait(self) -> None:
        """Return when no snapshot is being taken."""
        if self._pending is not None:
            await self._pending.wait()

    async def finish(self) -> None:
        """Take the last snapshot, after the box has ended.

        Where looking is costly, what a process wrote after the last turn is left to the next run.
        """
        await self.wait()
        if not self.files.is_costly:
            self.begin()
            await self.wait()

    async def _take(self, moment: Moment, done: anyio.Event) -> None:
        try:
            taken = await to_thread.run_sync(self.files.take, moment)
        except GloveboxError as error:
            self._tell_failure(error)
        else:
            self._tell(taken)
        finally:
            done.set()

    def _tell(self, taken: Taken) -> None:
        if taken.snapshot is not None and taken.snapshot.moment.kind == "turn":
            item = taken.snapshot
            self.observe(
                SnapshotTaken(
                    number=item.number,
                    turn=item.moment.turn,
                    added=item.added,
                    modified=item.modified,
                    deleted=item.deleted,
                )
            )
        if taken.dropped:
            first, last = taken.dropped[0].number, taken.dropped[-1].number
            self.observe(
                ErrorRaised(
                    "snapshots",
                    f"snapshots s{first} to s{last} were dropped: all together need too much space",
                    "newer ones are kept; see them with `glovebox rewind --list`",
                )
            )

    def _tell_failure(self, error: GloveboxError) -> None:
        # Once for each reason: a full disk would say so after every turn.
        if error.message not in self._failed:
            self._failed.add(error.message)
            self.observe(
                ErrorRaised("snapshots", f"no snapshot was taken: {error.message}", error.hint)
            )


@dataclass(frozen=True, slots=True)
class KeepingRunner:
    """Runs calls, and has the files kept after each turn before the next one can change them."""

    runner: ToolRunner
    history: TurnHistory

    async def dispatch(self, calls: Sequence[ToolCall], *, keep: Keep) -> tuple[ToolResult, ...]:
        """Return one result a call, in order."""
        await self.history.wait()
        try:
            return await self.runner.dispatch(calls, keep=keep)
        finally:
            writes = any(call.name not in READERS for call in calls)
            if writes or not self.history.files.is_costly:
                self.history.begin()


@asynccontextmanager
async def open_history(
    files: FileHistory, observe: Observer, now: Callable[[], Moment]
) -> AsyncIterator[TurnHistory]:
    """Begin the history of a session whose box is up; on leaving, what was begun is finished."""
    async with anyio.create_task_group() as group:
        history = TurnHistory(files, observe, now, group)
        # The start of a new session, or what the last run was killed over.
        history.begin()
        yield history
