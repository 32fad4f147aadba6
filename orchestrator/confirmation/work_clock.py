"""The time that a session works: what passes while a person is waited for does not count."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio

from orchestrator.confirmation.gate import Answer, Confirmer, Question


class WorkClock:
    """One session's; several questions side by side are one wait."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """``now`` gives seconds that never go back."""
        self._now = now
        self._begun = now()
        self._waited = 0.0
        self._waiting = 0
        self._since = 0.0
        self._scopes: dict[anyio.CancelScope, float] = {}

    def seconds(self) -> float:
        """Return the seconds worked since the session came up."""
        until = self._since if self._waiting else self._now()
        return until - self._begun - self._waited

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Stop the clock for as long as a person is waited for."""
        self._waiting += 1
        if self._waiting == 1:
            self._since = self._now()
            for scope in self._scopes:
                scope.deadline = math.inf
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._waited += self._now() - self._since
                for scope, end in self._scopes.items():
                    scope.deadline = self._deadline(end)

    @contextmanager
    def allow(self, seconds: float | None) -> Iterator[anyio.CancelScope]:
        """Cancel the body once it has worked so long; None: never."""
        if seconds is None:
            with anyio.CancelScope() as scope:
                yield scope
            return
        end = self.seconds() + seconds
        with anyio.CancelScope(deadline=self._deadline(end)) as scope:
            self._scopes[scope] = end
            try:
                yield scope
            finally:
                del self._scopes[scope]

    def _deadline(self, end: float) -> float:
        return math.inf if self._waiting else anyio.current_time() + end - self.seconds()


class ClockedConfirmer:
    """Whoever answers, with the clock stopped meanwhile."""

    def __init__(self, confirmer: Confirmer, clock: WorkClock) -> None:
        """Ask ``confirmer``."""
        self._confirmer = confirmer
        self._clock = clock

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Return the answer."""
        with self._clock.waiting():
            return await self._confirmer.ask(question, timeout_s=timeout_s)
