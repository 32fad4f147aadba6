"""One run from first event to last: signals, failures, changes, exit code."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.lowlevel

from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.engine.patience import hurry
from orchestrator.errors import GloveboxError
from orchestrator.harness.closing import Closing, Trouble
from orchestrator.harness.front import FrontDoor
from orchestrator.harness.options import RunOptions
from orchestrator.harness.session import Session, open_session
from orchestrator.loop.agent_loop import RunResult
from orchestrator.schema.codec import encode_usage
from orchestrator.schema.event import ErrorRaised, RunStatus, SessionEnd, WorkspaceChanged
from orchestrator.schema.ids import SessionId
from orchestrator.schema.message import Usage
from orchestrator.workspace.commit_set import BoxCommits, branch_rows
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
    readable: bool = True
    """False where the changes could not be read, for want of an engine."""


@dataclass(slots=True)
class _Signal:
    number: int | None = None


async def run_session(
    options: RunOptions, settings: Settings, paths: Paths, *, front: FrontDoor
) -> RunEnd:
    """Run one session; raises GloveboxError only where none came up.

    However a session ends, its last event is ``session_end`` and its chain is closed: also where
    the engine cannot be reached any more, and where something raises that nobody foresaw.
    """
    async with (
        _stoppable() as (scope, got),
        open_session(options, settings, paths, front=front) as session,
    ):
        try:
            result, error = await _work(session, scope)
        except BaseException as bug:
            with anyio.CancelScope(shield=True):
                await _wind_up(session, _Outcome(None, _unforeseen(bug), got))
            raise
        with anyio.CancelScope(shield=True):
            end = await _wind_up(session, _Outcome(result, error, got))
    return end


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of the loop."""

    result: RunResult | None
    error: GloveboxError | None
    got: _Signal


async def _work(
    session: Session, scope: anyio.CancelScope
) -> tuple[RunResult | None, GloveboxError | None]:
    """Run the loop; a failure becomes data, so that the session still ends in order."""
    try:
        with scope:
            # A signal that came on the way up counts before anything is done.
            await anyio.lowlevel.checkpoint()
            return await session.loop.run(), None
    except GloveboxError as error:
        return None, error
    return None, None


async def _wind_up(session: Session, outcome: _Outcome) -> RunEnd:
    """End the box, count the changes, tell everybody, and return the end."""
    status, code = _status(outcome.result, outcome.error, outcome.got)
    # At once: whatever happens below, the chain says how the run itself ended.
    session.record.note_end(status=status, exit_code=code)
    if (error := outcome.error) is not None:
        _tell(session, type(error).__name__, error.message, error.hint)
    closing = Closing(lambda trouble: _tell_trouble(session, trouble))
    hurry()
    try:
        changed, commits = await _settle(session, closing)
    except BaseException:
        _end(session, outcome, "failed", GloveboxError.exit_code)
        raise
    if changed is None and status == "done":
        # The work is done, but nobody can tell what came of it.
        status, code = "failed", max(trouble.exit_code for trouble in closing.troubles)
    _end(session, outcome, status, code, changed=len(changed or ()))
    return RunEnd(
        session.id,
        status,
        code,
        outcome.result.answer if outcome.result else "",
        len(changed or ()),
        session.room.mode,
        commits_waiting=waiting_line(commits),
        readable=changed is not None,
    )


async def _settle(
    session: Session, closing: Closing
) -> tuple[list[dict[str, Any]] | None, BoxCommits]:
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
        _tell(session, "commits", commits.trouble)
    return changed, commits


def _end(session: Session, outcome: _Outcome, status: RunStatus, code: int, **facts: Any) -> None:
    session.record.note_end(status=status, exit_code=code, **facts)
    result = outcome.result
    session.observe(
        SessionEnd(
            status=status,
            exit_code=code,
            turns=result.turns if result else 0,
            usage=encode_usage(result.usage if result else Usage()),
            cost_usd=result.cost_usd if result else None,
            answer=result.answer if result else "",
        )
    )


def _tell(session: Session, where: str, message: str, hint: str = "") -> None:
    scrub = session.output.scrub
    session.observe(ErrorRaised(where, scrub(message), scrub(hint)))


def _tell_trouble(session: Session, trouble: Trouble) -> None:
    _tell(session, trouble.what, f"not ended in order: {trouble.message}", trouble.hint)


def _unforeseen(bug: BaseException) -> GloveboxError | None:
    """Return the failure that a bug is; None where the run was only cancelled from outside."""
    if isinstance(bug, anyio.get_cancelled_exc_class()):
        return None
    # Without its words, which could hold a value.
    return GloveboxError(
        f"internal error: {type(bug).__name__}",
        hint="this is a bug; GLOVEBOX_DEBUG=1 prints where, please report that",
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
