"""A stream that is read ahead, a bounded piece, so that its end is heard while others work."""

from __future__ import annotations

import anyio

from orchestrator.egress.seams import ByteStream
from orchestrator.errors import BoxError

AHEAD = 64 * 1024
"""Bytes that may wait; the stream may give a larger piece at once."""


class ReadAhead:
    """Receives from a stream in a task of its own, ``run``; a ByteStream itself."""

    def __init__(self, stream: ByteStream) -> None:
        """Wrap the stream; nothing is received before ``run``."""
        self.stream = stream
        self._data = bytearray()
        self._ended = False
        self._failure: OSError | None = None
        self._changed = anyio.Event()

    async def run(self) -> None:
        """Receive until the end, and return then."""
        try:
            while data := await self.stream.receive():
                self._data += data
                self._notify()
                while len(self._data) >= AHEAD:
                    await self._changed.wait()
        except (OSError, BoxError) as error:
            self._failure = (
                error if isinstance(error, OSError) else ConnectionResetError(str(error))
            )
        self._ended = True
        self._notify()

    async def receive(self) -> bytes:
        """Return what is there, or what comes next; empty at the end, OSError if it broke."""
        while not self._data:
            if self._failure is not None:
                raise self._failure
            if self._ended:
                return b""
            await self._changed.wait()
        data = bytes(self._data)
        self._data.clear()
        self._notify()
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

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
