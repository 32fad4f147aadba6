"""A turn's calls, one after the other or side by side; results come back in the order of the calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio

from orchestrator.dispatch.judge import NeedsApprovalError
from orchestrator.schema.message import ToolCall, ToolResult

Keep = Callable[[ToolResult], None]
"""Hears each result as soon as there is one, so that none is lost where the batch is broken off."""

INTERRUPTED = (
    "Interrupted before it ended; it may or may not have taken effect. Check before you repeat it."
)
NOT_STARTED = "Not run: the work was stopped before this call began."
WAITS = "Not run yet: it waits for a person's answer."


def forget(result: ToolResult) -> None:
    """Keep nothing."""


class PartialBatchError(Exception):
    """Raised when a batch stopped at an ask that nobody could answer."""

    def __init__(
        self,
        results: tuple[ToolResult, ...],
        waiting: tuple[ToolCall, ...],
        stop: NeedsApprovalError,
    ) -> None:
        """Keep the results there are, and the calls without one: none of those has changed anything."""
        super().__init__(str(stop))
        self.results = results
        self.waiting = waiting
        self.stop = stop


async def run_batch(
    calls: Sequence[ToolCall],
    one: Callable[[int], Awaitable[ToolResult]],
    *,
    side_by_side: bool,
    keep: Keep,
) -> tuple[ToolResult, ...]:
    """Return the results of ``one`` for each call by its place.

    ``keep`` is told of those that were not begun, where the batch is broken off.
    """
    if len(calls) > 1 and side_by_side:
        return await _side_by_side(calls, one)
    results: list[ToolResult] = []
    for at in range(len(calls)):
        try:
            results.append(await one(at))
        except NeedsApprovalError as stop:
            raise PartialBatchError(tuple(results), tuple(calls[at:]), stop) from stop
        except BaseException:
            for call in calls[at + 1 :]:
                keep(ToolResult(call.id, call.name, NOT_STARTED, is_error=True))
            raise
    return tuple(results)


async def _side_by_side(
    calls: Sequence[ToolCall], one: Callable[[int], Awaitable[ToolResult]]
) -> tuple[ToolResult, ...]:
    results: dict[int, ToolResult] = {}
    asks: list[NeedsApprovalError] = []

    async def run(at: int) -> None:
        try:
            results[at] = await one(at)
        except NeedsApprovalError as stop:
            # The others go on: they may have had an effect already.
            asks.append(stop)

    try:
        async with anyio.create_task_group() as group:
            for at in range(len(calls)):
                group.start_soon(run, at)
    except BaseExceptionGroup as failed:
        raise _first(failed) from None
    if asks:
        told = tuple(results[at] for at in sorted(results))
        left = tuple(call for at, call in enumerate(calls) if at not in results)
        raise PartialBatchError(told, left, asks[0])
    return tuple(results[at] for at in range(len(calls)))


def _first(failed: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = failed
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
