"""One end of a stream, for whichever side opened it: what arrived, and what may be sent."""

from __future__ import annotations

from collections import deque
from typing import Protocol

import anyio

from orchestrator.errors import BoxError
from orchestrator.sandbox.frames import CREDIT, DATA, END, MAX_PAYLOAD, U32, WINDOW, Frame


class Send(Protocol):
    """Where frames go."""

    def __call__(self, call: int, kind: int, payload: bytes = b"", /) -> None:
        """Queue one message."""
        ...


class Channel:
    """Bytes both ways within credit, until ``is_over`` is set."""

    def __init__(self, number: int, send: Send, *, window: int = WINDOW) -> None:
        """Let the far end send a window ahead."""
        self._window = window
        self.number = number
        self.is_over = False
        self._send = send
        self._arrived: deque[bytes] = deque()
        self._allowed = window
        self._unpaid = 0
        self._credit = 0
        self._heard_last = False
        self._said_last = False
        self._failure: BoxError | None = None
        self._changed = anyio.Event()

    async def receive(self) -> bytes:
        """Return what came next; empty when nothing more will."""
        while not self._arrived:
            self.check()
            if self._heard_last or self.is_over:
                return b""
            await self.changed()
        piece = self._arrived.popleft()
        self._pay(len(piece))
        return piece

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send bytes as the far end takes them; dropped where the stream is over."""
        view = memoryview(data)
        while view and not self._is_deaf():
            if not self._credit:
                await self.changed()
                continue
            piece = bytes(view[: min(self._credit, MAX_PAYLOAD)])
            view = view[len(piece) :]
            self._credit -= len(piece)
            self._send(self.number, DATA, piece)
        if last and not self._is_deaf():
            self._said_last = True
            self._send(self.number, END)

    @property
    def failed(self) -> bool:
        """True once the connection is gone."""
        return self._failure is not None

    def check(self) -> None:
        """Raise BoxError where the connection is gone."""
        if self._failure is not None:
            raise BoxError(self._failure.message, hint=self._failure.hint) from self._failure

    def drop_arrived(self) -> None:
        """Forget what nobody will read, and let the far end go on."""
        while self._arrived:
            self._pay(len(self._arrived.popleft()))

    async def changed(self) -> None:
        """Wait until anything happens at the far end."""
        await self._changed.wait()

    def take(self, frame: Frame) -> bool:
        """Act on a frame that both roles know; False for another. BoxError for a breach."""
        if frame.kind == DATA:
            if len(frame.payload) > self._allowed or self._heard_last:
                raise BoxError(f"box: stream {self.number}: sent more than it was allowed")
            self._allowed -= len(frame.payload)
            if frame.payload:
                self._arrived.append(frame.payload)
        elif frame.kind == END:
            self._heard_last = True
        elif frame.kind == CREDIT and len(frame.payload) == U32.size:
            self._credit += U32.unpack(frame.payload)[0]
        else:
            return False
        self.notify()
        return True

    def fail(self, failure: BoxError) -> None:
        """End it with the connection's end."""
        self._failure = failure
        self.notify()

    def notify(self) -> None:
        """Wake who waits."""
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    def _is_deaf(self) -> bool:
        return self.is_over or self._said_last or self._failure is not None

    def _pay(self, count: int) -> None:
        self._unpaid += count
        if self._unpaid > self._window // 2 and not (self._heard_last or self.is_over):
            self._allowed += self._unpaid
            self._send(self.number, CREDIT, U32.pack(self._unpaid))
            self._unpaid = 0
