"""A front door's side of a wrapped program, without a terminal."""

from __future__ import annotations

from dataclasses import dataclass, field

from orchestrator.harness.wrap.pipes import Pipes
from orchestrator.harness.wrap.seat import Left
from orchestrator.sandbox.driver import BoxStream
from orchestrator.schema.stream import TerminalSize


@dataclass
class PipedSeat:
    """Gives input, keeps what is said, ends as it is told."""

    given: bytes = b""
    size: TerminalSize | None = None
    left: Left = "ended"
    said: dict[str, bytes] = field(default_factory=lambda: {"stdout": b"", "stderr": b""})
    shown: bytes = b""
    fails: Exception | None = None

    async def pipe(self, pipes: Pipes) -> Left:
        """Carry until the end, or fail at the first word."""
        await pipes.send(self.given, last=True)
        while found := await pipes.receive():
            for source, data in found:
                self.said[source] += data
            if self.fails is not None:
                raise self.fails
        return self.left

    async def show(self, stream: BoxStream) -> Left:
        """Keep what a terminal shows."""
        while data := await stream.receive():
            self.shown += data
        return self.left
