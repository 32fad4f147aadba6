"""What a wrapped program starts, seen and judged for as long as it runs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from orchestrator.dispatch.execs import Execs, Watched
from orchestrator.schema.exec_record import ExecReport
from orchestrator.schema.message import ToolCall
from orchestrator.schema.request import ExecRequest

PER_SECOND = 20_000
"""Characters of starts that are read in a second, over what a command's own allowance has."""


@dataclass(slots=True)
class Watching:
    """One program's; what was expected before it started is kept for it."""

    execs: Execs
    _watched: Watched | None = None
    _early: list[ExecRequest] = field(default_factory=list)
    _looked: float = 0.0

    def begin(self, call: ToolCall, request: ExecRequest) -> None:
        """Expect what the program's own start shows."""
        self._watched = self.execs.watch(call, request)
        self._looked = time.monotonic()
        for early in self._early:
            self.expect(early)

    def expect(self, request: ExecRequest) -> None:
        """Expect what a command starts that was judged, and may run."""
        if self._watched is None:
            self._early.append(request)
        else:
            self._watched.expect(request)

    def hear(self, report: ExecReport) -> bool:
        """Take one report; True where policy wants the program ended."""
        if self._watched is None:
            return False
        now = time.monotonic()
        self._watched.allow_more(int((now - self._looked) * PER_SECOND))
        self._looked = now
        return self._watched.hear(report)

    @property
    def ended_for(self) -> str:
        """What the program was ended for; raw, empty where it was not."""
        return "" if self._watched is None else self._watched.ended_for

    def settle(self) -> dict[str, Any]:
        """Return what was started, as audit data."""
        return {} if self._watched is None else self._watched.settle()
