"""One connection of a program in the box, with what serves it."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from orchestrator.egress.dialing import Dialing
from orchestrator.egress.inject.injector import Injector
from orchestrator.egress.limits import Limits
from orchestrator.egress.live import Live
from orchestrator.egress.reader import ReadAhead
from orchestrator.egress.refusals import Refusal, render
from orchestrator.egress.seams import ExchangeWatch, Gatekeeper, Headers, Recorder, Tls
from orchestrator.egress.targets import Place
from orchestrator.egress.upstream import Pool
from orchestrator.schema.egress import Caller, Door


@dataclass(frozen=True)
class Parts:
    """What all connections of a session share."""

    gatekeeper: Gatekeeper
    dialing: Dialing
    live: Live
    limits: Limits
    tls: Tls | None
    injector: Injector | None
    watch: ExchangeWatch | None
    recorder: Recorder | None


@dataclass
class Life:
    """How the connection itself may end."""

    gone_s: float
    """For the answer to a program that said its last, and may be gone."""
    spliced: bool = False
    """Only bytes pass now: one direction may end long before the other."""


async def watch(reader: ReadAhead, life: Life, scope: anyio.CancelScope) -> None:
    """Read ahead; when the program is gone, end what was begun for it.

    One that only said its last has some seconds for its answer.
    """
    if not await reader.run():
        return
    if not reader.broken:
        await anyio.sleep(life.gone_s)
    if not life.spliced:
        scope.cancel()


@dataclass(frozen=True)
class Line:
    """Where requests come from, and what they are for."""

    parts: Parts
    reader: ReadAhead
    pool: Pool
    door: Door
    caller: Caller | None
    life: Life
    place: Place | None = None
    """The one place that requests may be for, where the connection itself named it."""

    async def refuse(self, refusal: Refusal, asked: Headers = (), *, method: str = "") -> None:
        """Answer, as the last thing on this connection, and hear the sender out for a while.

        Who is still sending would see a reset in place of the answer.
        """
        await self._say_last(render(refusal, asked, bodiless=method == "HEAD"))

    async def finish(self) -> None:
        """End the connection in order."""
        await self._say_last(b"")

    async def _say_last(self, data: bytes) -> None:
        limits = self.parts.limits
        try:
            with anyio.move_on_after(limits.linger_s):
                await self.reader.send(data, last=True)
                left = limits.linger_bytes
                while left > 0 and (piece := await self.reader.receive()):
                    left -= len(piece)
        except OSError:
            return
