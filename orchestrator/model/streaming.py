"""From an SDK's stream into a fold, event by event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import anyio

from orchestrator.model.client import Delta, OnDelta
from orchestrator.model.errors import NOTHING, unreadable
from orchestrator.model.event_shape import shaped

DEEP = "an event of the answer is nested too deep"


class Fold(Protocol):
    """Takes plain events, so that it depends on no SDK's types and bears what servers leave out."""

    def feed(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        """Take one event; give what a reader can see of it."""
        ...


STALLED_S = 1800.0
"""A stream may go on so long with signs of life alone. Vendors send those while a model thinks unseen,
which takes minutes; the limit on silence does not see them as such."""


async def pour(
    stream: Any, fold: Fold, on_delta: OnDelta, *, model: str, stalled_s: float = STALLED_S
) -> None:
    """Feed every event of the stream, and close it whatever happens.

    Raises ModelError where there was none at all, where one is nested too deep, and where nothing to
    read came for ``stalled_s``.
    """
    begun = False
    with _readable(model), patient(model, stalled_s) as heard:
        async with stream:
            async for event in stream:
                begun = True
                for delta in fold.feed(_plain(event, model)):
                    if delta.text:
                        heard()
                        on_delta(delta)
    if not begun:
        raise unreadable(model, NOTHING)


@contextmanager
def patient(model: str, stalled_s: float = STALLED_S) -> Iterator[Callable[[], None]]:
    """Give what is called for each thing to read; ModelError where none came for so long."""
    with anyio.move_on_after(stalled_s) as scope:

        def heard() -> None:
            scope.deadline = anyio.current_time() + stalled_s

        yield heard
    if scope.cancelled_caught:
        raise unreadable(model, f"nothing but signs of life came for {stalled_s:g} s")


@contextmanager
def _readable(model: str) -> Iterator[None]:
    """Raise ModelError for an event that is nested deeper than it can be looked through."""
    try:
        yield
    except RecursionError:
        raise unreadable(model, DEEP) from None


def _plain(event: Any, model: str) -> dict[str, Any]:
    """Return an event of an SDK as data; a word or a number on its own tells nothing."""
    try:
        told = event.to_dict(mode="json", warnings=False) if hasattr(event, "to_dict") else event
        return shaped(told) if isinstance(told, Mapping) else {}
    except ValueError:
        # An SDK's words for what is nested deeper than it writes.
        raise unreadable(model, DEEP) from None
