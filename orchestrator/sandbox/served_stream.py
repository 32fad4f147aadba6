"""A stream that the far end opened and this end serves: the other role of ``streams``."""

from __future__ import annotations

from dataclasses import asdict

import anyio

from orchestrator.errors import BoxError, GloveboxError
from orchestrator.sandbox.channel import Channel, Send
from orchestrator.sandbox.driver import BoxStream
from orchestrator.sandbox.frames import CANCEL, CREDIT, RESIZE, RESULT, U32, WINDOW, Frame
from orchestrator.sandbox.results import wire_bytes
from orchestrator.schema.stream import TerminalSize


class ServedStream:
    """Serves one number by passing everything on to a BoxStream, and back."""

    def __init__(self, number: int, send: Send, *, credit: int) -> None:
        """``credit`` is what the far end takes at first."""
        self._number = number
        self._send = send
        self._channel = Channel(number, send)
        self._channel.take(Frame(number, CREDIT, U32.pack(credit)))
        self._target: BoxStream | None = None
        self._scope: anyio.CancelScope | None = None
        self._dropped = False

    def take(self, frame: Frame) -> None:
        """Act on a frame of the far end; BoxError for one that is none of a stream's."""
        if frame.kind == CANCEL:
            self.drop()
        elif frame.kind == RESIZE and len(frame.payload) == 2 * U32.size:
            columns, rows = (U32.unpack_from(frame.payload, at)[0] for at in (0, U32.size))
            if self._target is not None:
                self._target.resize(TerminalSize(columns, rows))
        elif not self._channel.take(frame):
            raise BoxError(f"stream {self._number}: frame of kind {frame.kind}")

    def drop(self) -> None:
        """Go on to the end at once: the far end wants no more, or is gone."""
        self._dropped = True
        if self._scope is not None:
            self._scope.cancel()

    async def relay(self, target: BoxStream, *, half_closes: bool) -> None:
        """Pass bytes both ways and send the RESULT; closes ``target``.

        With ``half_closes`` one way goes on after the other ended, as a connection does; a
        terminal is over when nothing more comes out of it.
        """
        self._target = target
        self._send(self._number, CREDIT, U32.pack(WINDOW))
        failure = ""
        try:
            with anyio.CancelScope() as self._scope:
                if self._dropped:
                    self._scope.cancel()
                async with anyio.create_task_group() as group:
                    group.start_soon(self._pass_in, target)
                    failure = await self._pass_out(target)
                    if half_closes and not failure:
                        await self._channel.send(b"", last=True)
                    else:
                        group.cancel_scope.cancel()
        finally:
            end = await target.close()
        self._finish({"error": failure} if failure else {"data": asdict(end)})

    def refuse(self, message: str) -> None:
        """Send a RESULT that says why there is no such stream."""
        self._finish({"error": message, "code": "unavailable"})

    async def _pass_in(self, target: BoxStream) -> None:
        while data := await self._channel.receive():
            await target.send(data)
        await target.send(b"", last=True)

    async def _pass_out(self, target: BoxStream) -> str:
        """Return why it broke off; nothing where it came to its end."""
        try:
            while data := await target.receive():
                await self._channel.send(data)
        except GloveboxError as error:
            return error.message
        return ""

    def _finish(self, result: dict[str, object]) -> None:
        self._channel.is_over = True
        self._send(self._number, RESULT, wire_bytes(result))
