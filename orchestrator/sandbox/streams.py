"""A stream that this end opened: asked for, used, and at last told how it ended."""

from __future__ import annotations

from typing import Any

import anyio

from orchestrator.errors import BoxError
from orchestrator.sandbox.channel import Channel, Send
from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.sandbox.frames import CANCEL, CREDIT, RESIZE, RESULT, U32, WINDOW, Frame
from orchestrator.sandbox.results import parse_answer
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.stream import (
    ProgramTarget,
    StreamEnd,
    StreamTarget,
    TerminalSize,
    TerminalTarget,
)

OPEN_S = 20.0
"""How long a box may take to open one; a starved box is late, not lost."""
CLOSE_S = 5.0
"""How long what runs at the other end may take to be ended."""


def target_body(target: StreamTarget, *, watched: bool = False) -> dict[str, Any]:
    """Return the body of OPEN for a target; ``watched`` wants to hear what its command starts."""
    wish = {"watched": True} if watched else {}
    if isinstance(target, TerminalTarget):
        size = target.size.bounded()
        to: dict[str, Any] = {
            "terminal": {
                "command": target.command,
                "cwd": target.cwd,
                "columns": size.columns,
                "rows": size.rows,
                **wish,
            }
        }
    elif isinstance(target, ProgramTarget):
        to = {"program": {"command": target.command, "cwd": target.cwd, **wish}}
    else:
        to = {"tcp": target.port}
    return {"to": to, "credit": WINDOW}


class OpenedStream:
    """The BoxStream of the connection to a box."""

    def __init__(self, number: int, send: Send) -> None:
        """Expect the answer to an OPEN with this number."""
        self._channel = Channel(number, send)
        self._send = send
        self._outcome: Outcome | None = None
        self._is_open = False
        self._ended = False

    async def opened(self) -> None:
        """Return once it is open; StreamRefusedError where the far end could not open it."""
        with anyio.move_on_after(OPEN_S):
            while not self._is_open and self._outcome is None and not self._channel.failed:
                await self._channel.changed()
        self._channel.check()
        if self._is_open:
            # An error that came on the heels of the opening is its end, told by ``close``.
            return
        if self._outcome is not None and self._outcome.error is not None:
            raise StreamRefusedError(self._outcome.error)
        if self._outcome is None:
            await self.close()
            raise StreamRefusedError(f"the box did not open it within {OPEN_S:.0f} s")

    async def receive(self) -> bytes:
        """Return what came next; empty when nothing more will."""
        return await self._channel.receive()

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send bytes as the box takes them; dropped where the stream is over."""
        await self._channel.send(data, last=last)

    def resize(self, size: TerminalSize) -> None:
        """Tell a terminal its new size."""
        if not self._channel.is_over:
            size = size.bounded()
            payload = U32.pack(size.columns) + U32.pack(size.rows)
            self._send(self._channel.number, RESIZE, payload)

    async def close(self) -> StreamEnd:
        """End what still runs at the other end, and return how it ended."""
        if self._outcome is None and not self._ended and not self._channel.failed:
            self._ended = True
            self._send(self._channel.number, CANCEL)
        with anyio.move_on_after(CLOSE_S, shield=True):
            while self._outcome is None and not self._channel.failed:
                self._channel.drop_arrived()
                await self._channel.changed()
        if self._outcome is None:
            return StreamEnd(reason="the box is gone or did not say how it ended")
        if self._outcome.error is not None:
            return StreamEnd(reason=self._outcome.error)
        return StreamEnd(**self._outcome.data)

    def take(self, frame: Frame) -> bool:
        """Act on a frame; True when it was the last. BoxError for a breach."""
        if frame.kind == RESULT:
            self._outcome = parse_answer("stream", frame.payload)
            self._channel.is_over = True
            self._channel.notify()
            return True
        self._is_open = self._is_open or frame.kind == CREDIT
        if not self._channel.take(frame):
            raise BoxError(f"box: frame of kind {frame.kind} for a stream")
        return False

    def fail(self, failure: BoxError) -> None:
        """End it with the connection's end."""
        self._channel.fail(failure)
