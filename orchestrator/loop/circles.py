"""Sees a run going in circles: pure, no clock.

A turn's calls and its results count together, so a test that is run again after an edit is none.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from orchestrator.schema.ids import Digest, digest_of
from orchestrator.schema.message import ToolCall, ToolResult

PERIODS = {1: "the same call with the same result", 2: "two calls that take turns"}
"""Turns of one round, and what such a circle is called."""
NOTHING_NEW = "for many turns nothing but calls and results that were there before"
NOTHING_NEW_TIMES = 4
"""So many times ``repeat`` turns without anything new are a circle, in whatever order."""
REMEMBERED = 512
"""Turns that are looked back at."""

_VOLATILE = re.compile(
    r"\d+(\.\d+)? ?(ms|s|secs?|seconds?)\b"
    r"|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?"
    r"|\b\d\d:\d\d:\d\d(\.\d+)?\b"
    r"|\b0x[0-9a-fA-F]{6,}\b"
)
"""What differs from run to run of a command that does the same: durations, times, addresses."""


def round_of(calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> Digest:
    """Return what one turn did, the same for the same calls with the same results."""
    asked = [(call.name, _arguments(call)) for call in calls]
    told = [
        (result.is_error, _VOLATILE.sub("", result.output), [i.data for i in result.images])
        for result in results
    ]
    return digest_of(repr((asked, told)).encode("utf-8", "surrogatepass"))


def _arguments(call: ToolCall) -> str:
    if call.arguments is None:
        return call.raw_arguments
    return json.dumps(call.arguments, sort_keys=True, default=str)


@dataclass(slots=True)
class Circles:
    """One run's."""

    repeat: int
    """Equal rounds that make a circle; below 2 nothing does."""
    _rounds: deque[Digest] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    _stale: int = 0
    _quiet: int | None = None
    """Turns without a circle since the nudge; None where none was given lately."""

    def judge(self, done: Digest) -> tuple[Literal["go", "nudge", "stop"], str]:
        """Take note of a turn; a circle is told the model once, then it ends the run.

        A run that found out of one and went on for a while is told again of the next.
        """
        found = self.note(done)
        if found is not None:
            nudged, self._quiet = self._quiet is not None, 0
            return ("stop" if nudged else "nudge"), found
        if self._quiet is not None:
            self._quiet += 1
            if self._quiet >= self.repeat * 2:
                self._quiet = None
        return "go", ""

    def note(self, done: Digest) -> str | None:
        """Take note of a turn; returns what kind of circle it closes, None where it closes none."""
        if self.repeat < 2:
            return None
        self._stale = self._stale + 1 if done in self._rounds else 0
        self._rounds.append(done)
        for period, name in PERIODS.items():
            if self._turns_round(period):
                return name
        return NOTHING_NEW if self._stale >= self.repeat * NOTHING_NEW_TIMES else None

    def _turns_round(self, period: int) -> bool:
        span = period * self.repeat
        if len(self._rounds) < span:
            return False
        tail = list(self._rounds)[-span:]
        return all(tail[at] == tail[at % period] for at in range(span))
