"""One run from first event to last: signals, failures, changes, exit code."""

from __future__ import annotations

import anyio
import anyio.lowlevel

from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.errors import GloveboxError
from orchestrator.harness.egress.net import Net
from orchestrator.harness.ending import stoppable, unforeseen
from orchestrator.harness.front import FrontDoor
from orchestrator.harness.options import RunOptions
from orchestrator.harness.session import Session, open_session
from orchestrator.harness.shaping import read_wanted, shape_answer
from orchestrator.harness.winding import Outcome, RunEnd, wind_up
from orchestrator.loop.agent_loop import RunResult
from orchestrator.model.structured import Wanted


async def run_session(
    options: RunOptions,
    settings: Settings,
    paths: Paths,
    *,
    front: FrontDoor,
    net: Net | None = None,
) -> RunEnd:
    """Run one session; raises GloveboxError only where none came up.

    However a session ends, its last event is ``session_end`` and its chain is closed: also where
    the engine cannot be reached any more, and where something raises that nobody foresaw.
    """
    wanted = read_wanted(options.output_schema) if options.output_schema else None
    async with (
        stoppable() as (scope, got),
        open_session(options, settings, paths, front=front, net=net) as session,
    ):
        try:
            result, error = await _work(session, scope, wanted)
        except BaseException as bug:
            with anyio.CancelScope(shield=True):
                await wind_up(session, Outcome(None, unforeseen(bug), got))
            raise
        with anyio.CancelScope(shield=True):
            end = await wind_up(session, Outcome(result, error, got))
    return end


async def _work(
    session: Session, scope: anyio.CancelScope, wanted: Wanted | None
) -> tuple[RunResult | None, GloveboxError | None]:
    """Run the loop; a failure becomes data, so that the session still ends in order."""
    try:
        with scope:
            session.record.open_turn(session.prompt, session.output.scrub_message)
            # A signal that came on the way up counts before anything is done.
            await anyio.lowlevel.checkpoint()
            result = await session.loop.run()
            if wanted is not None and result.status == "done":
                result = await shape_answer(session, result, wanted)
            return result, None
    except GloveboxError as error:
        return None, error
    return None, None
