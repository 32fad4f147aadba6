"""Keeps boxes ready: makes the next when one is taken, replaces one that died."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from orchestrator.errors import GloveboxError
from orchestrator.harness.pool.offer import Offer, UnfitError
from orchestrator.schema.ids import Digest, SessionId

LOOK_S = 1.0
"""Between two looks at whether the boxes still stand."""
REST_S = 0.4
"""After one was taken: the session that took it has its first steps before it, and making a box
keeps the engine and a processor busy for as long."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
"""After failures in a row, each wait is twice the last: an engine that is down is not hammered."""


class WarmBox(Protocol):
    """A box that waits."""

    @property
    def session(self) -> SessionId:
        """The id that it was made with."""
        ...

    @property
    def key(self) -> Digest:
        """What it was made under."""
        ...

    @property
    def alive(self) -> bool:
        """False once it has ended."""
        ...

    async def hand_over(self) -> Offer | None:
        """Let go of it; None, and it is gone, where that cannot be."""
        ...

    async def drop(self) -> None:
        """End it and remove what was prepared for it."""
        ...


class Maker(Protocol):
    """Who makes the boxes."""

    async def make(self) -> WarmBox:
        """Return a box that is up and proved; raises GloveboxError, and leaves nothing then."""
        ...


@dataclass(slots=True)
class WarmPool:
    """A source of boxes; ``keep`` must run beside whoever takes them."""

    maker: Maker
    size: int
    taken: int = 0
    trouble: str = ""
    """Why the last box could not be made; empty when it could."""
    last_asked: float = field(default_factory=time.monotonic)
    _ready: list[WarmBox] = field(default_factory=list)
    _unfit: list[WarmBox] = field(default_factory=list)
    _wake: anyio.Event = field(default_factory=anyio.Event)

    @property
    def ready(self) -> tuple[SessionId, ...]:
        """The boxes that wait."""
        return tuple(box.session for box in self._ready)

    async def take(self, key: Digest) -> Offer | str:
        """Return a box that was made under this key, or why there is none.

        Boxes made under another key are dropped: what they were made for has changed.
        """
        self.last_asked = time.monotonic()
        try:
            return await self._take(key)
        finally:
            self._wake.set()

    async def keep(self) -> None:
        """Fill, mend and replace, until cancelled, or until it shows that no box can ever wait."""
        pause = FIRST_PAUSE_S
        while True:
            await self._clear()
            if len(self._ready) < self.size:
                try:
                    made = await self._fill()
                except UnfitError as error:
                    self.trouble = error.message
                    return
                if made:
                    pause = FIRST_PAUSE_S
                    continue
                await anyio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_S)
                continue
            self._wake = anyio.Event()
            with anyio.move_on_after(LOOK_S):
                await self._wake.wait()
            if self._wake.is_set():
                await anyio.sleep(REST_S)

    async def close(self) -> None:
        """Drop every box."""
        with anyio.CancelScope(shield=True):
            self._unfit += self._ready
            self._ready = []
            await self._clear()

    async def _take(self, key: Digest) -> Offer | str:
        why = "the next one is not ready yet"
        if not self._ready and self.trouble:
            why = f"it could not be made: {self.trouble}"
        while self._ready:
            box = self._ready.pop(0)
            if not box.alive:
                self._unfit.append(box)
                why = "the one that waited had died"
            elif box.key != key:
                self._unfit.append(box)
                why = "policy, image or settings changed since it was made"
            elif (offer := await box.hand_over()) is not None:
                self.taken += 1
                return offer
        return why

    async def _fill(self) -> bool:
        try:
            box = await self.maker.make()
        except UnfitError:
            raise
        except GloveboxError as error:
            self.trouble = error.message
            return False
        self.trouble = ""
        self._ready.append(box)
        return True

    async def _clear(self) -> None:
        self._unfit += [box for box in self._ready if not box.alive]
        self._ready = [box for box in self._ready if box.alive]
        while self._unfit:
            box = self._unfit.pop()
            try:
                await box.drop()
            except GloveboxError as error:
                # Its workspace stays marked as unclaimed, for the next sweep.
                self.trouble = error.message
