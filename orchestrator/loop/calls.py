"""A turn's calls: whatever happens, each has a result on disk, directly after its turn."""

from __future__ import annotations

import time
from collections.abc import Sequence

import anyio

from orchestrator.dispatch.batch import INTERRUPTED, NOT_STARTED, PartialBatchError
from orchestrator.dispatch.output import OutputFilter
from orchestrator.loop.limits import Pace
from orchestrator.loop.seams import ToolRunner, Transcript
from orchestrator.schema.event import Observer
from orchestrator.schema.head_event import CallsPaced
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
        observe: Observer,
        pace: Pace,
    ) -> None:
        """``output`` keeps secrets out of the transcript; ``observe`` hears of calls that wait."""
        self._runner = runner
        self._transcript = transcript
        self._output = output
        self._observe = observe
        self._pace = pace

    async def run(self, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        """Return the results once they are on disk.

        Where the batch is broken off, what has run keeps its result and the rest is closed. At an
        ask that nobody can answer PartialBatchError is raised: what waits is noted, to be taken up.
        """
        kept: dict[CallId, ToolResult] = {}
        try:
            results = await self._paced(calls, kept)
        except PartialBatchError as partial:
            if partial.results:
                self._transcript.add(ToolMessage(partial.results))
            self._transcript.hold(partial.waiting)
            raise
        except BaseException:
            self.close(calls, INTERRUPTED, kept)
            raise
        self._transcript.add(ToolMessage(results))
        return results

    async def _paced(
        self, calls: Sequence[ToolCall], kept: dict[CallId, ToolResult]
    ) -> tuple[ToolResult, ...]:
        """Run as many at once as may begin, then the others; ``kept`` has what came out so far."""
        results: tuple[ToolResult, ...] = ()
        began, rest = time.monotonic(), calls
        for start_s, count in self._pace.spread(len(calls), began):
            now, rest = rest[:count], rest[count:]
            try:
                await self._wait(start_s - (time.monotonic() - began), len(now) + len(rest))
            except BaseException:
                _keep_unbegun(kept, (*now, *rest))
                raise
            try:
                done = await self._runner.dispatch(
                    now, keep=lambda result: kept.update({result.call: result})
                )
            except PartialBatchError as partial:
                told, waiting = (*results, *partial.results), (*partial.waiting, *rest)
                raise PartialBatchError(told, waiting, partial.stop) from partial
            except BaseException:
                _keep_unbegun(kept, rest)
                raise
            kept.update({result.call: result for result in done})
            results += done
        return results

    async def _wait(self, seconds: float, calls: int) -> None:
        if seconds > 0 and self._pace.per_minute is not None:
            self._observe(CallsPaced(calls, seconds, self._pace.per_minute))
        await anyio.sleep(max(seconds, 0.0))

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


def _keep_unbegun(kept: dict[CallId, ToolResult], calls: Sequence[ToolCall]) -> None:
    kept.update({c.id: ToolResult(c.id, c.name, NOT_STARTED, is_error=True) for c in calls})
