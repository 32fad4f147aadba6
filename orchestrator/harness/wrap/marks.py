"""A wrapped program's moments in the session: each is a turn that a rewind can go back to."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial

import anyio

from orchestrator.harness.ground import Ground
from orchestrator.harness.rewind_turns import WORK
from orchestrator.harness.wrap.beside import beside

EVERY_S = 300.0
"""Between two snapshots while the program runs: it has no turns that could be seen from here."""


@dataclass(frozen=True, slots=True)
class Marks:
    """One program's."""

    ground: Ground
    words: str
    """What is done, for people."""

    async def end(self) -> None:
        """Have the files kept as the program left them; the box is still up."""
        await self._set("its end")
        await self.ground.history.wait()

    def kept(self, every_s: float = EVERY_S) -> AbstractAsyncContextManager[None]:
        """Have the files kept now and then until the end of the block."""
        return beside(partial(self._keep, every_s))

    async def _keep(self, every_s: float) -> None:
        began = anyio.current_time()
        while self.ground.history.files.is_kept:
            await anyio.sleep(every_s)
            minutes = (anyio.current_time() - began) / 60
            await self._set(f"after {minutes:.0f} min")

    async def _set(self, when: str) -> None:
        """Add a turn to the session, and begin on a snapshot of its files."""
        history, store = self.ground.history, self.ground.record.store
        await history.wait()
        if history.files.is_kept:
            store.append("custom", {"kind": WORK, "words": f"{self.words} ({when})"})
            store.sync()
            history.begin()
