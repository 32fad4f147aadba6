"""Taking turns: one at a time, whoever lets others go first behind them, else in order of coming."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio


@dataclass(eq=False, slots=True)
class _Waiting:
    behind: bool
    called: anyio.Event = field(default_factory=anyio.Event)


class Turns:
    """Of one thing that is used by one at a time."""

    def __init__(self) -> None:
        """Free."""
        self._taken = False
        self._line: list[_Waiting] = []

    @asynccontextmanager
    async def turn(self, *, behind: bool = False) -> AsyncIterator[None]:
        """Wait for a turn and have it until the end of the block; ``behind`` lets others go first."""
        if self._taken:
            await self._wait(_Waiting(behind))
        self._taken = True
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, mine: _Waiting) -> None:
        self._line.append(mine)
        try:
            await mine.called.wait()
        except BaseException:
            if mine in self._line:
                self._line.remove(mine)
            else:
                # It was called in the moment that it gave up.
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        following = min(self._line, key=lambda one: one.behind, default=None)
        if following is None:
            self._taken = False
            return
        # It stays taken meanwhile, so that nobody who comes now slips in.
        self._line.remove(following)
        following.called.set()
