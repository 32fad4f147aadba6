"""The end of a session that asked a model: status, exit code, changes, the last event."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Any

from orchestrator.engine.patience import hurry
from orchestrator.errors import GloveboxError
from orchestrator.harness.closing import Closing
from orchestrator.harness.ending import TERMINATED, Signal, settle, tell, tell_trouble
from orchestrator.harness.session import Session
from orchestrator.loop.agent_loop import RunResult
from orchestrator.schema.codec import encode_usage
from orchestrator.schema.event import RunStatus, SessionEnd
from orchestrator.schema.ids import SessionId
from orchestrator.schema.message import Usage
from orchestrator.workspace.commit_words import waiting_line

EXIT_CODES: dict[RunStatus, int] = {
    "done": 0,
    "failed": 1,
    "needs_approval": 3,
    "limit": 4,
    "interrupted": 130,
}


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the loop."""

    result: RunResult | None
    error: GloveboxError | None
    got: Signal


async def wind_up(session: Session, outcome: Outcome) -> RunEnd:
    """End the box, count the changes, tell everybody, and return the end."""
    status, code = status_of(outcome.result, outcome.error, outcome.got)
    # At once: whatever happens below, the chain says how the run itself ended.
    session.record.note_end(status=status, exit_code=code)
    if (error := outcome.error) is not None:
        tell(session, type(error).__name__, error.message, hint=error.hint)
    closing = Closing(lambda trouble: tell_trouble(session, trouble))
    hurry()
    try:
        changed, commits = await settle(session, closing)
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


def _end(session: Session, outcome: Outcome, status: RunStatus, code: int, **facts: Any) -> None:
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


def status_of(
    result: RunResult | None, error: GloveboxError | None, got: Signal
) -> tuple[RunStatus, int]:
    """Return how a session ended, and its exit code: a failure's, a signal's or its own."""
    if error is not None:
        return "failed", error.exit_code
    if result is None:
        return "interrupted", TERMINATED if got.number == signal.SIGTERM else EXIT_CODES[
            "interrupted"
        ]
    return result.status, EXIT_CODES[result.status]
