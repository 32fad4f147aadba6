"""One run from first event to last: signals, failures, changes, exit code."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.errors import GloveboxError
from orchestrator.harness.front import FrontDoor
from orchestrator.harness.options import RunOptions
from orchestrator.harness.session import Session, open_session
from orchestrator.loop.agent_loop import RunResult
from orchestrator.schema.codec import encode_usage
from orchestrator.schema.event import ErrorRaised, RunStatus, SessionEnd, WorkspaceChanged
from orchestrator.schema.ids import SessionId
from orchestrator.schema.message import Usage
from orchestrator.workspace.commit_set import branch_rows
from orchestrator.workspace.commit_words import waiting_line

EXIT_CODES: dict[RunStatus, int] = {
    "done": 0,
    "failed": 1,
    "needs_approval": 3,
    "limit": 4,
    "interrupted": 130,
}
TERMINATED = 143


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended, for the front door."""

    session: SessionId
    status: RunStatus
    exit_code: int
    answer: str
    changed: int
    """Changes that wait to be applied."""
    workspace_mode: str
    commits_waiting: str = ""
    """One line about the commits that wait, safe to show; empty where none do."""


@dataclass(slots=True)
class _Signal:
    number: int | None = None


async def run_session(
    options: RunOptions, settings: Settings, paths: Paths, *, front: FrontDoor
) -> RunEnd:
    """Run one session; raises GloveboxError only where none came up."""
    async with (
        _stoppable() as (scope, got),
        open_session(options, settings, paths, front=front) as session,
    ):
        result, error = await _work(session, scope)
        with anyio.CancelScope(shield=True):
            end = await _wind_up(session, result, error, got)
    return end


async def _work(
    session: Session, scope: anyio.CancelScope
) -> tuple[RunResult | None, GloveboxError | None]:
    """Run the loop; a failure becomes data, so that the session still ends in order."""
    try:
        with scope:
            return await session.loop.run(), None
    except GloveboxError as error:
        return None, error
    return None, None


async def _wind_up(
    session: Session, result: RunResult | None, error: GloveboxError | None, got: _Signal
) -> RunEnd:
    """End the box, count the changes, tell everybody, and return the end."""
    status, code = _status(result, error, got)
    if error is not None:
        scrub = session.output.scrub
        said = ErrorRaised(type(error).__name__, scrub(error.message), scrub(error.hint))
        session.observe(said)
    # A snapshot that is being taken may hold the box.
    await session.history.wait()
    changed = await session.room.settle()
    await session.history.finish()
    commits = await session.room.commits()
    found = session.room.found
    notes = found.notes if found is not None else ()
    session.observe(WorkspaceChanged(tuple(changed), branch_rows(commits.branches), notes))
    if commits.trouble:
        session.observe(ErrorRaised("commits", session.output.scrub(commits.trouble)))
    usage = result.usage if result else Usage()
    session.record.note_end(status=status, exit_code=code, changed=len(changed))
    answer = result.answer if result else ""
    session.observe(
        SessionEnd(
            status=status,
            exit_code=code,
            turns=result.turns if result else 0,
            usage=encode_usage(usage),
            cost_usd=result.cost_usd if result else None,
            answer=answer,
        )
    )
    return RunEnd(
        session.id,
        status,
        code,
        answer,
        len(changed),
        session.room.mode,
        commits_waiting=waiting_line(commits),
    )


def _status(
    result: RunResult | None, error: GloveboxError | None, got: _Signal
) -> tuple[RunStatus, int]:
    if error is not None:
        return "failed", error.exit_code
    if result is None:
        return "interrupted", TERMINATED if got.number == signal.SIGTERM else EXIT_CODES[
            "interrupted"
        ]
    return result.status, EXIT_CODES[result.status]


@asynccontextmanager
async def _stoppable() -> AsyncIterator[tuple[anyio.CancelScope, _Signal]]:
    """Give a scope that SIGINT, SIGTERM and SIGHUP cancel, and which of them came."""
    scope, got = anyio.CancelScope(), _Signal()

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
