"""A bound on questions, so that a model cannot wear a person down until they say yes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from orchestrator.confirmation.gate import Answer, Confirmer, Question

WINDOW_S = 3600.0


class LimitedConfirmer:
    """Passes on so many questions an hour; the rest are a no that says why."""

    def __init__(
        self, otherwise: Confirmer, *, per_hour: int, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Ask ``otherwise`` at most ``per_hour`` times in any hour."""
        self._otherwise = otherwise
        self._per_hour = per_hour
        self._now = now
        self._asked: deque[float] = deque()

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the answer, or a no by ``limit`` that asks nobody."""
        now = self._now()
        while self._asked and now - self._asked[0] >= WINDOW_S:
            self._asked.popleft()
        if len(self._asked) >= self._per_hour:
            return Answer(
                yes=False,
                by="limit",
                reason=f"{self._per_hour} questions were asked within an hour, and no more are; "
                "do what needs no confirmation, or end and say what is left to be decided",
            )
        self._asked.append(now)
        return await self._otherwise.ask(question, timeout_s=timeout_s)
