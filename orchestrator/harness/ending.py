"""The end of a session, with or without a model: signals, what failed, and what waits after it."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import anyio

from orchestrator.dispatch.output import OutputFilter
from orchestrator.errors import GloveboxError
from orchestrator.harness.closing import Closing, Trouble
from orchestrator.harness.history import TurnHistory
from orchestrator.harness.record import Record
from orchestrator.harness.room import Room
from orchestrator.schema.event import ErrorRaised, Observer, WorkspaceChanged
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.commit_set import BoxCommits, branch_rows

TERMINATED = 143


class Up(Protocol):
    """A session that is up."""

    @property
    def id(self) -> SessionId:
        """Its name."""
        ...

    @property
    def record(self) -> Record:
        """Its files."""
        ...

    @property
    def room(self) -> Room:
        """Its box and workspace."""
        ...

    @property
    def history(self) -> TurnHistory:
        """Its snapshots."""
        ...

    @property
    def observe(self) -> Observer:
        """Who is told of its events."""
        ...

    @property
    def output(self) -> OutputFilter:
        """Its redaction."""
        ...


@dataclass(slots=True)
class Signal:
    """The one that came, if one did."""

    number: int | None = None


async def settle(session: Up, closing: Closing) -> tuple[list[dict[str, Any]] | None, BoxCommits]:
    """End the box and tell what waits; None where what changed cannot be told now."""
    # A snapshot that is being taken may hold the box.
    await session.history.wait()
    changed = await session.room.settle(closing)
    await session.history.finish()
    commits = BoxCommits(session.id)
    with closing.step("commits", hint=f"they are kept: glovebox diff {session.id}"):
        commits = await session.room.commits()
    if (found := session.room.found) is not None:
        rows = tuple(changed or ())
        session.observe(WorkspaceChanged(rows, branch_rows(commits.branches), found.notes))
    if commits.trouble:
        tell(session, "commits", commits.trouble)
    return changed, commits


def tell(session: Up, where: str, message: str, *, hint: str = "") -> None:
    """Tell observers of something that failed; secrets are kept out."""
    scrub = session.output.scrub
    session.observe(ErrorRaised(where, scrub(message), scrub(hint)))


def tell_trouble(session: Up, trouble: Trouble) -> None:
    """Tell observers of a step of the end that failed."""
    tell(session, trouble.what, f"not ended in order: {trouble.message}", hint=trouble.hint)


def unforeseen(bug: BaseException) -> GloveboxError | None:
    """Return the failure that a bug is; None where the run was only cancelled from outside."""
    if isinstance(bug, anyio.get_cancelled_exc_class()):
        return None
    # Without its words, which could hold a value.
    return GloveboxError(
        f"internal error: {type(bug).__name__}",
        hint="this is a bug; GLOVEBOX_DEBUG=1 prints where, please report that",
    )


@asynccontextmanager
async def stoppable() -> AsyncIterator[tuple[anyio.CancelScope, Signal]]:
    """Give a scope that SIGINT, SIGTERM and SIGHUP cancel, and which of them came."""
    scope, got = anyio.CancelScope(), Signal()

    async def watch() -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
            async for number in signals:
                got.number = number
                scope.cancel()

    failure: GloveboxError | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        try:
            yield scope, got
        except GloveboxError as error:
            # Raised below: out of a task group it would come wrapped in another kind.
            failure = error
        finally:
            group.cancel_scope.cancel()
    if failure is not None:
        raise failure
