"""A stream with bytes put back that were taken off it to be looked at."""

from __future__ import annotations

from orchestrator.egress.seams import ByteStream


class ReplayedStream:
    """Gives the bytes again before it goes on with what comes."""

    def __init__(self, stream: ByteStream, data: bytes) -> None:
        """Put ``data`` in front of ``stream``."""
        self._stream = stream
        self._data = data

    async def receive(self) -> bytes:
        """Return the bytes put back, then what comes."""
        if self._data:
            data, self._data = self._data, b""
            return data
        return await self._stream.receive()

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send on the stream itself."""
        await self._stream.send(data, last=last)

    async def close(self) -> object:
        """Close the stream itself."""
        return await self._stream.close()
