"""A stream that is read ahead, a bounded piece, so that its end is heard while others work."""

from __future__ import annotations

import asyncio

from orchestrator.egress.seams import ByteStream
from orchestrator.errors import BoxError

AHEAD = 64 * 1024
"""Bytes that may wait; the stream may give a larger piece at once."""


class ReadAhead:
    """Receives from a stream in a task of its own, ``run``; a ByteStream itself, for one receiver."""

    def __init__(self, stream: ByteStream) -> None:
        """Wrap the stream; nothing is received before ``run``."""
        self.stream = stream
        self._data = bytearray()
        self._ended = False
        self._failure: OSError | None = None
        self._direct = False
        self._running = True
        self._late = False
        # Events of asyncio, set and cleared: this is on the way of every piece.
        self._arrived = asyncio.Event()
        self._taken = asyncio.Event()

    async def run(self) -> bool:
        """Receive until the end; False where ``hand_over`` came first."""
        while not self._direct:
            data = await self._read()
            if not data:
                return True
            self._data += data
            self._arrived.set()
            while len(self._data) >= AHEAD and not self._direct:
                self._taken.clear()
                await self._taken.wait()
        self._running = False
        self._arrived.set()
        return False

    def hand_over(self) -> None:
        """Read no further ahead: from now on the receiver waits for the stream itself."""
        self._direct = True
        self._taken.set()

    async def receive(self, seconds: float | None = None) -> bytes:
        """Return what is there, or what comes next; empty at the end, OSError if it broke.

        TimeoutError where nothing comes in so many seconds; not after ``hand_over``.
        """
        if not self._data:
            await self._wait(seconds)
        if self._data:
            data = bytes(self._data)
            self._data.clear()
            self._taken.set()
            return data
        if self._failure is not None:
            raise self._failure
        if self._ended:
            return b""
        if self._late:
            raise TimeoutError("nothing came in time")
        data = await self._read()
        if self._failure is not None:
            raise self._failure
        return data

    def unread(self, data: bytes) -> None:
        """Put back what was received beyond what was wanted."""
        self._data[:0] = data

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send as the other end takes it."""
        try:
            await self.stream.send(data, last=last)
        except BoxError as error:
            raise ConnectionResetError(str(error)) from error

    async def close(self) -> None:
        """Let go of the stream."""
        try:
            await self.stream.close()
        except (OSError, BoxError):
            self._ended = True

    @property
    def quiet(self) -> bool:
        """Whether nothing waits and the other end is still there."""
        return not self._data and not self._ended

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self._ended

    @property
    def broken(self) -> bool:
        """Whether it ended by an error."""
        return self._failure is not None

    async def _wait(self, seconds: float | None) -> None:
        """Return when something came, it ended, the time is over, or nobody reads ahead."""
        timer, self._late = None, False
        if seconds is not None:
            timer = asyncio.get_running_loop().call_later(seconds, self._expire)
        try:
            while not (self._data or self._ended or self._late) and self._running:
                self._arrived.clear()
                await self._arrived.wait()
        finally:
            if timer is not None:
                timer.cancel()

    def _expire(self) -> None:
        self._late = True
        self._arrived.set()

    async def _read(self) -> bytes:
        try:
            data = await self.stream.receive()
        except (OSError, BoxError) as error:
            self._failure = (
                error if isinstance(error, OSError) else ConnectionResetError(str(error))
            )
            data = b""
        if not data:
            self._ended = True
            self._arrived.set()
        return data
