"""A wrapped program's session from first event to last: signals, limits, changes, exit code."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from signal import SIGTERM

import anyio
import anyio.lowlevel

from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.engine.patience import hurry
from orchestrator.errors import GloveboxError
from orchestrator.harness.box_spec import run_limits
from orchestrator.harness.closing import Closing
from orchestrator.harness.ending import (
    TERMINATED,
    Signal,
    settle,
    stoppable,
    tell,
    tell_trouble,
    unforeseen,
)
from orchestrator.harness.front import FrontDoor
from orchestrator.harness.governed import Governed, govern
from orchestrator.harness.ground import Ground, open_ground
from orchestrator.harness.options import NO_MODEL, RunOptions
from orchestrator.harness.winding import EXIT_CODES, RunEnd
from orchestrator.harness.wrap.gate.clients import Connected, connect
from orchestrator.harness.wrap.gate.service import Gate
from orchestrator.harness.wrap.home import HomeSource
from orchestrator.harness.wrap.marks import Marks
from orchestrator.harness.wrap.program import NotAllowedError, Program, ProgramEnd
from orchestrator.harness.wrap.seat import Seat
from orchestrator.harness.wrap.watching import Watching
from orchestrator.schema.codec import encode_usage
from orchestrator.schema.event import LimitReached, Observer, RunStatus, SessionEnd
from orchestrator.workspace.commit_words import waiting_line

SIGNALLED = 128
"""Added to the number of the signal that ended a program, as shells do."""
LONGEST_S = 7 * 86_400.0
"""Seconds of a program without a limit of its own."""


@dataclass(frozen=True, slots=True)
class WrapOrder:
    """What is to be wrapped, and how."""

    run: RunOptions
    argv: tuple[str, ...]
    home: HomeSource | None = None
    """What is copied into its home first."""
    asks: bool = True
    """A client that can be made to ask the gate before its tools is."""

    @property
    def connected(self) -> Connected | None:
        """How the client is made to ask; None where it does not."""
        return connect(self.argv) if self.asks else None

    @property
    def started(self) -> tuple[str, ...]:
        """What is really started."""
        found = self.connected
        return self.argv if found is None else found.argv


@dataclass(slots=True)
class _Outcome:
    """What came of the program, as far as that is known."""

    got: Signal
    end: ProgramEnd | None = None
    refused: str = ""
    late: float | None = None
    """The seconds that were over, where that ended it."""
    error: GloveboxError | None = None


async def run_wrapped(
    order: WrapOrder, settings: Settings, paths: Paths, *, front: FrontDoor, seat: Seat
) -> RunEnd:
    """Run a program in a session of its own; raises GloveboxError only where none came up.

    However it ends, the last event is ``session_end`` and the chain is closed.
    """
    async with stoppable() as (scope, got):
        governed = await govern(order.run, settings.approvals, paths, front=front)
        async with open_ground(
            governed,
            settings,
            paths,
            front=front,
            worker=no_model,
            facts={"gate": gate_words(governed, order.connected)},
        ) as ground:
            outcome = _Outcome(got)
            try:
                await _work(ground, order, seat, outcome, scope=scope)
            except BaseException as bug:
                outcome.error = unforeseen(bug)
                with anyio.CancelScope(shield=True):
                    await _wind_up(ground, outcome)
                raise
            with anyio.CancelScope(shield=True):
                end = await _wind_up(ground, outcome)
    return end


@asynccontextmanager
async def no_model(observe: Observer) -> AsyncIterator[str]:
    """Open nothing: the host asks no model in such a session."""
    del observe
    yield NO_MODEL


@asynccontextmanager
async def _gate(ground: Ground, order: WrapOrder, watching: Watching) -> AsyncIterator[None]:
    if order.connected is None:
        yield
        return
    async with Gate(ground, watching, client=order.connected.client).open():
        yield


def gate_words(governed: Governed, connected: Connected | None = None) -> str:
    """Say what the gate sees of a wrapped program, for posture, audit and people."""
    if not governed.policy.sandbox.exec_record:
        seen = "what it starts is not recorded"
    elif governed.policy.unexpected == "end":
        seen = "what it starts is recorded, and what policy would ask about ends it"
    else:
        seen = "what it starts is recorded, and told where policy would ask about it"
    if connected is not None:
        return (
            f"{connected.client} asks before each of its tools, as far as it keeps to its hooks; "
            f"of anything else only the program's start is judged before it happens; {seen}"
        )
    return f"only the program's start is judged before it happens; {seen}"


async def _work(
    ground: Ground, order: WrapOrder, seat: Seat, outcome: _Outcome, *, scope: anyio.CancelScope
) -> None:
    """Run the program; a failure becomes data, so that the session still ends in order."""
    governed = ground.governed
    limit = run_limits(governed.policy.limits, governed.options.limits).wall_time_s
    watching = Watching(ground.execs)
    program = Program(ground, order.started, seconds=limit or LONGEST_S, watching=watching)
    marks = Marks(ground, f"wrap {order.argv[0]}")
    try:
        with scope:
            # A signal that came on the way up counts before anything is done.
            await anyio.lowlevel.checkpoint()
            # Of the files as they are before it.
            await ground.history.wait()
            if order.home is not None:
                await order.home.fill(ground)
            with anyio.move_on_after(math.inf if limit is None else limit) as clock:
                async with marks.kept(), _gate(ground, order, watching):
                    outcome.end = await program.run(seat)
            if clock.cancelled_caught and limit is not None:
                outcome.late = limit
                ground.observe(LimitReached("wall_time", limit))
    except NotAllowedError as refused:
        outcome.refused = str(refused)
    except GloveboxError as error:
        outcome.error = error
    finally:
        if program.started:
            with anyio.CancelScope(shield=True):
                await marks.end()


async def _wind_up(ground: Ground, outcome: _Outcome) -> RunEnd:
    """End the box, count the changes, tell everybody, and return the end."""
    status, code = _status(outcome)
    ground.record.note_end(status=status, exit_code=code)
    _explain(ground, outcome)
    closing = Closing(lambda trouble: tell_trouble(ground, trouble))
    hurry()
    try:
        changed, commits = await settle(ground, closing)
    except BaseException:
        _end(ground, "failed", GloveboxError.exit_code)
        raise
    if changed is None and status == "done":
        status, code = "failed", max(trouble.exit_code for trouble in closing.troubles)
    ground.record.note_end(changed=len(changed or ()))
    _end(ground, status, code)
    return RunEnd(
        ground.id,
        status,
        code,
        "",
        len(changed or ()),
        ground.room.mode,
        commits_waiting=waiting_line(commits),
        readable=changed is not None,
    )


def _end(ground: Ground, status: RunStatus, code: int) -> None:
    ground.record.note_end(status=status, exit_code=code)
    used = ground.use.beside()
    ground.observe(
        SessionEnd(
            status=status,
            exit_code=code,
            turns=0,
            usage=encode_usage(used.usage),
            cost_usd=used.cost_usd if used.usage.total else None,
        )
    )


def _explain(ground: Ground, outcome: _Outcome) -> None:
    """Tell what the program's own words cannot have said."""
    error, end = outcome.error, outcome.end
    if error is not None:
        tell(ground, type(error).__name__, error.message, hint=error.hint)
    elif outcome.refused:
        hint = "`glovebox policy explain` tells what each layer says of a command"
        tell(ground, "wrap", "; ".join(outcome.refused.splitlines()), hint=hint)
    elif end is not None and end.ended_for:
        tell(ground, "wrap", f"the program was ended for what it started: {end.ended_for}")
    elif end is not None and end.end.reason and end.left == "ended":
        tell(ground, "wrap", f"the program was ended: {end.end.reason}")


def _status(outcome: _Outcome) -> tuple[RunStatus, int]:
    if outcome.error is not None:
        return "failed", outcome.error.exit_code
    if outcome.refused:
        return "failed", GloveboxError.exit_code
    if outcome.late is not None:
        return "limit", EXIT_CODES["limit"]
    if outcome.end is None or outcome.end.left != "ended":
        terminated = outcome.got.number == SIGTERM
        return "interrupted", TERMINATED if terminated else EXIT_CODES["interrupted"]
    end = outcome.end.end
    if outcome.end.ended_for:
        # Also where it was faster than its end.
        return "failed", GloveboxError.exit_code
    if end.exit_code is not None:
        return ("done" if end.exit_code == 0 else "failed"), end.exit_code
    if end.signal is not None and not end.reason:
        return "failed", SIGNALLED + end.signal
    return "limit", EXIT_CODES["limit"]
