"""Bytes that nobody looks into: passed both ways, counted, and no more of them than policy says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio

from orchestrator.egress.inject.frames import FrameError
from orchestrator.egress.ledger import OverLimitError, Way
from orchestrator.egress.live import Carried
from orchestrator.egress.seams import ByteStream
from orchestrator.errors import BoxError


@dataclass
class Splice:
    """Two streams made one."""

    near: ByteStream
    """The box's end."""
    far: ByteStream
    carried: Carried
    clean: Callable[[bytes], bytes] | None = None
    """What becomes of the far end's bytes before the box gets them; FrameError ends it."""

    async def run(self) -> None:
        """Pass bytes until both ends are done, one breaks off, or a limit is reached.

        Exactly as many bytes pass as the limit says; ``carried.problem`` tells why it ended early.
        """
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pass, self.near, self.far, "upload", tasks.cancel_scope)
            await self._pass(self.far, self.near, "download", tasks.cancel_scope)

    async def _pass(
        self, source: ByteStream, sink: ByteStream, way: Way, scope: anyio.CancelScope
    ) -> None:
        try:
            while data := await source.receive():
                self.carried.touch()
                if self.clean is not None and way == "download":
                    data = self.clean(data)
                await self._send(sink, way, data)
            await sink.send(b"", last=True)
        except (OverLimitError, FrameError) as error:
            self._end(scope, str(error))
        except (OSError, BoxError):
            self._end(
                scope, "the server broke off" if source is self.far else "the program broke off"
            )

    async def _send(self, sink: ByteStream, way: Way, data: bytes) -> None:
        meter = self.carried.meter
        room = meter.room(way, len(data))
        if room:
            meter.body(way, room)
            await sink.send(data[:room])
            self.carried.touch()
        if room < len(data):
            meter.expect(way, len(data) - room)

    def _end(self, scope: anyio.CancelScope, problem: str) -> None:
        self.carried.problem = self.carried.problem or problem
        scope.cancel()
