"""A turn's calls: whatever happens, each has a result on disk, directly after its turn."""

from __future__ import annotations

import time
from collections.abc import Sequence

import anyio

from orchestrator.dispatch.batch import INTERRUPTED, NOT_STARTED, PartialBatchError
from orchestrator.dispatch.output import OutputFilter
from orchestrator.loop.limits import Pace
from orchestrator.loop.seams import ToolRunner, Transcript
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import ToolCall, ToolMessage, ToolResult


class Calls:
    """Runs one session's calls, no faster than allowed."""

    def __init__(
        self,
        runner: ToolRunner,
        transcript: Transcript,
        *,
        output: OutputFilter,
        per_minute: int | None,
    ) -> None:
        """``output`` keeps secrets out of the transcript."""
        self._runner = runner
        self._transcript = transcript
        self._output = output
        self._pace = Pace(per_minute)

    async def run(self, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        """Return the results once they are on disk.

        Where the batch is broken off, what has run keeps its result and the rest is closed. At an
        ask that nobody can answer PartialBatchError is raised: what waits is noted, to be taken up.
        """
        kept: dict[CallId, ToolResult] = {}
        why = NOT_STARTED
        try:
            await anyio.sleep(sum(self._pace.wait_s(time.monotonic()) for _ in calls))
            why = INTERRUPTED
            results = await self._runner.dispatch(
                calls, keep=lambda result: kept.update({result.call: result})
            )
        except PartialBatchError as partial:
            if partial.results:
                self._transcript.add(ToolMessage(partial.results))
            self._transcript.hold(partial.waiting)
            raise
        except BaseException:
            self.close(calls, why, kept)
            raise
        self._transcript.add(ToolMessage(results))
        return results

    def close(
        self,
        calls: Sequence[ToolCall],
        why: str,
        kept: dict[CallId, ToolResult] | None = None,
    ) -> None:
        """Give each call the result that there is, or one that says why there is none."""
        if not calls:
            return
        known = kept or {}
        told = (known.get(c.id) or ToolResult(c.id, c.name, why, is_error=True) for c in calls)
        self._transcript.add(self._output.scrub_message(ToolMessage(tuple(told))))
