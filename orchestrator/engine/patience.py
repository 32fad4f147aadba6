"""How long a silent engine is waited for: at a session's end, once and not call by call.

A person who ends a session waits for it. An engine that takes connections and answers none would
hold each call of the end for the whole time-out; what it still has is left to a later sweep.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

END_S = 15.0
"""Seconds of silence in one call of an end: a loaded engine was seen to take six for a removal."""
SPENT_S = 0.2
"""The same once a call of this session waited in vain: enough for an engine that is back."""


@dataclass(slots=True)
class Patience:
    """One session's."""

    ending: bool = False
    silent: bool = False
    """True once the engine left a call without an answer."""

    @contextmanager
    def until_end(self) -> Iterator[None]:
        """Be patient in the block; from its end on, however it ends, hurry."""
        try:
            yield
        finally:
            self.ending = True

    def seconds(self, usual: float) -> float:
        """Return how long a call may wait for the engine's next word."""
        if not self.ending:
            return usual
        return SPENT_S if self.silent else min(usual, END_S)


_PRESENT: ContextVar[Patience | None] = ContextVar("patience", default=None)


@contextmanager
def session_patience() -> Iterator[Patience]:
    """Give the block, and every thread and task that it starts, a patience of its own."""
    before = _PRESENT.get()
    patience = Patience()
    _PRESENT.set(patience)
    try:
        yield patience
    finally:
        _PRESENT.set(before)


def hurry() -> None:
    """Begin the end of the present session."""
    if (patience := _PRESENT.get()) is not None:
        patience.ending = True


def seconds_now(usual: float) -> float:
    """Return how long a call may wait for the engine's next word; ``usual`` outside a session."""
    patience = _PRESENT.get()
    return usual if patience is None else patience.seconds(usual)


def note_silence() -> None:
    """Remember that the engine left a call of this session without an answer."""
    if (patience := _PRESENT.get()) is not None:
        patience.silent = True
