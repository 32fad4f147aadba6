"""Two ends of a connection that exists in memory only, with the back-pressure of a real one."""

from __future__ import annotations

from collections import deque

import anyio
from anyio import lowlevel

CAPACITY = 64 * 1024
"""Bytes that wait in each direction before a sender has to."""


class MemoryStream:
    """One end of a pair, as ``stream_pair`` makes it; a ByteStream."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        """Let at most ``capacity`` bytes wait here, or one piece that is larger."""
        self._capacity = capacity
        self._arrived: deque[bytes] = deque()
        self._waiting = 0
        self._ended = False
        self._changed = anyio.Event()
        self.peer: MemoryStream | None = None
        self.closed = False

    async def receive(self) -> bytes:
        """Return what came next; empty when nothing more will."""
        await lowlevel.checkpoint()
        while True:
            if self.closed:
                raise BrokenPipeError("this end is closed")
            if self._arrived:
                data = self._arrived.popleft()
                self._waiting -= len(data)
                self._notify()
                return data
            if self._ended:
                return b""
            await self._changed.wait()

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send as the other end takes it; BrokenPipeError once it is closed."""
        await lowlevel.checkpoint()
        peer = self.peer
        while peer is not None and not (self.closed or peer.closed) and peer.is_full:
            await peer.wait()
        if self.closed or peer is None or peer.closed:
            raise BrokenPipeError("the other end is closed")
        peer.arrive(data, last=last)

    async def close(self) -> None:
        """Let go of it; the other end reads what was sent, and then the end."""
        await lowlevel.checkpoint()
        if not self.closed:
            self.closed = True
            self._notify()
            if self.peer is not None:
                self.peer.arrive(b"", last=True)

    @property
    def is_full(self) -> bool:
        """Whether a sender has to wait."""
        return self._waiting >= self._capacity

    @property
    def waiting(self) -> int:
        """Bytes that arrived and were not received yet."""
        return self._waiting

    def arrive(self, data: bytes, *, last: bool) -> None:
        """Take what the other end sent."""
        if data:
            self._arrived.append(bytes(data))
            self._waiting += len(data)
        self._ended = self._ended or last
        self._notify()

    async def wait(self) -> None:
        """Return when anything changed at this end."""
        await self._changed.wait()

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def stream_pair(capacity: int = CAPACITY) -> tuple[MemoryStream, MemoryStream]:
    """Return two ends of one connection."""
    here, there = MemoryStream(capacity), MemoryStream(capacity)
    here.peer, there.peer = there, here
    return here, there
