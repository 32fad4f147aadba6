"""A stream that a program in the box opened: what is at the host's end of its connection."""

from __future__ import annotations

from orchestrator.errors import BoxError
from orchestrator.sandbox.channel import Channel, Send
from orchestrator.sandbox.frames import CANCEL, CREDIT, RESULT, U32, WINDOW, Frame
from orchestrator.sandbox.results import wire_bytes
from orchestrator.schema.stream import StreamEnd, TerminalSize

_GONE = BoxError("box: the program broke the connection off")


class TakenStream:
    """A BoxStream whose other end is a program; it fits ``egress.seams.ByteStream`` too.

    Where the program or the box is gone, ``receive`` and ``send`` raise ConnectionResetError.
    """

    def __init__(self, number: int, send: Send, *, credit: int, window: int = WINDOW) -> None:
        """``credit`` is what the program takes at first, ``window`` what it may send ahead."""
        self._number = number
        self._send = send
        self._channel = Channel(number, send, window=window)
        self._channel.take(Frame(number, CREDIT, U32.pack(credit)))
        self._said_last = False
        send(number, CREDIT, U32.pack(window))

    async def receive(self) -> bytes:
        """Return what came next; empty when nothing more will."""
        try:
            return await self._channel.receive()
        except BoxError as err:
            raise ConnectionResetError(err.message) from err

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send bytes as the program takes them, ``last`` to say that no more follow."""
        self._said_last = self._said_last or last
        await self._channel.send(data, last=last)
        try:
            self._channel.check()
        except BoxError as err:
            raise ConnectionResetError(err.message) from err

    def resize(self, size: TerminalSize) -> None:
        """Do nothing: a connection has no size."""

    async def close(self) -> StreamEnd:
        """Let go of it: in order after the last word, else the program sees it break."""
        if not self._channel.is_over:
            self._channel.is_over = True
            result: dict[str, object] = {"data": {}}
            if not self._said_last:
                result = {"error": "cut off", "code": "failed"}
            self._send(self._number, RESULT, wire_bytes(result))
            self._channel.notify()
        return StreamEnd()

    def take(self, frame: Frame) -> None:
        """Act on a frame of the box; BoxError for one that is none of a stream's."""
        if frame.kind == CANCEL:
            self._channel.fail(_GONE)
        elif not self._channel.take(frame):
            raise BoxError(f"box: frame of kind {frame.kind} for a connection")

    def fail(self, failure: BoxError) -> None:
        """End it with the connection to the box."""
        self._channel.fail(failure)
