"""A WebSocket server's bytes, cleaned within its messages, over the frames they are cut into.

Nothing is held back past the end of a message: the client may be waited for. Compression is not
asked for, so a secret stands in the payload as it is.
"""

from __future__ import annotations

from collections import deque

from orchestrator.egress.inject.echoes import Echoes, EchoStream

_FINAL, _RESERVED, _CONTROL, _MASKED = 0x80, 0x70, 0x08, 0x80
_MAX_CONTROL = 125
_MAX_QUEUE = 1024
"""Frames without a payload of their own that may wait within one message."""


class FrameError(ValueError):
    """Raised when a server's bytes are no frames that can be read; the text is safe to show."""


class FrameScrubber:
    """Takes a server's bytes after a 101, returns as many in the end."""

    def __init__(self, echoes: Echoes) -> None:
        """Begin at a frame's first byte."""
        self._echoes = echoes
        self._message = EchoStream(echoes)
        self._header = bytearray()
        self._control = bytearray()
        self._left = 0
        self._taken = self._given = 0
        self._queue: deque[tuple[int, bytes]] = deque()
        """Headers and control frames, each with how much of the messages comes before it."""

    def feed(self, data: bytes) -> bytes:
        """Return what can be passed on by now. FrameError."""
        out = bytearray()
        at = 0
        while at < len(data):
            if self._left == 0:
                piece = data[at : at + self._header_size() - len(self._header)]
                self._header += piece
                if len(self._header) == self._header_size():
                    self._begin_frame()
            else:
                piece = data[at : at + self._left]
                self._left -= len(piece)
                out += self._take(piece)
            at += len(piece)
            if self._left == 0 and len(self._header) == self._header_size():
                out += self._end_frame()
        return bytes(out)

    def _header_size(self) -> int:
        if len(self._header) < 2:
            return 2
        return {126: 4, 127: 10}.get(self._header[1] & 0x7F, 2)

    def _begin_frame(self) -> None:
        first, second = self._header[:2]
        if first & _RESERVED:
            raise FrameError("the server's frames are compressed, though that was not asked for")
        if second & _MASKED:
            raise FrameError("the server's frames are masked")
        short = second & 0x7F
        self._left = short if short < 126 else int.from_bytes(self._header[2:])
        if first & _CONTROL and (self._left > _MAX_CONTROL or not first & _FINAL):
            raise FrameError("a control frame of the server is too long, or cut")
        if not first & _CONTROL:
            self._put(bytes(self._header))

    def _take(self, piece: bytes) -> bytes:
        if self._header[0] & _CONTROL:
            self._control += piece
            return b""
        self._taken += len(piece)
        return self._woven(self._message.feed(piece))

    def _end_frame(self) -> bytes:
        first = self._header[0]
        if first & _CONTROL:
            self._put(bytes(self._header) + self._echoes.scrub(bytes(self._control)))
            self._control.clear()
        self._header.clear()
        ends_message = first & _FINAL and not first & _CONTROL
        return self._woven(self._message.end() if ends_message else b"")

    def _put(self, data: bytes) -> None:
        if len(self._queue) >= _MAX_QUEUE:
            raise FrameError("too many empty frames within one message of the server")
        self._queue.append((self._taken, data))

    def _woven(self, clean: bytes) -> bytes:
        """Return clean payload with the headers that stand before, in and right after it."""
        out = bytearray()
        while self._queue and self._queue[0][0] <= self._given + len(clean):
            place, data = self._queue.popleft()
            before = place - self._given
            out += clean[:before] + data
            clean, self._given = clean[before:], place
        self._given += len(clean)
        return bytes(out + clean)
