"""How long a silent engine is waited for: at a session's end, once and not call by call.

A person who ends a session waits for it. An engine that takes connections and answers none would
hold each call of the end for the whole time-out; what it still has is left to a later sweep.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
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
    """True once the engine left a call without an answer, until it answers one before the end."""
    clock: Callable[[], float] = time.monotonic
    """Seconds that only grow."""
    _since: float | None = None
    """When, by the clock, the first call of the end began that has no answer yet."""

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
        if self.silent:
            return SPENT_S
        # Calls that wait side by side wait for the same word: the later one not for longer.
        now = self.clock()
        if self._since is None:
            self._since = now
        return min(usual, max(SPENT_S, END_S - (now - self._since)))

    def note_word(self) -> None:
        """Take it that the engine is there; at the end a silence is forgiven only once."""
        self._since = None
        self.silent = self.silent and self.ending


_PRESENT: ContextVar[Patience | None] = ContextVar("patience", default=None)
_ASIDE: ContextVar[bool] = ContextVar("aside", default=False)


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


@contextmanager
def aside() -> Iterator[None]:
    """Let no call of the block wait longer than one of an end, which may begin meanwhile."""
    before = _ASIDE.get()
    _ASIDE.set(True)
    try:
        yield
    finally:
        _ASIDE.set(before)


def hurry() -> None:
    """Begin the end of the present session."""
    if (patience := _PRESENT.get()) is not None:
        patience.ending = True


def seconds_now(usual: float) -> float:
    """Return how long a call may wait for the engine's next word; ``usual`` outside a session."""
    patience = _PRESENT.get()
    longest = min(usual, END_S) if _ASIDE.get() else usual
    return longest if patience is None else patience.seconds(longest)


def note_word() -> None:
    """Remember that the engine answered a call of this session."""
    if (patience := _PRESENT.get()) is not None:
        patience.note_word()


def note_silence() -> None:
    """Remember that the engine left a call of this session without an answer."""
    if (patience := _PRESENT.get()) is not None:
        patience.silent = True
