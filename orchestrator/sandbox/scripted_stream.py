"""The shipped stand-in for a stream: shows a text, may echo, ends as it is told."""

from __future__ import annotations

from collections import deque

import anyio
from anyio import lowlevel

from orchestrator.errors import BoxError
from orchestrator.sandbox.pieces import piece_of
from orchestrator.schema.stream import StreamEnd, TerminalSize

END_OF_INPUT = b"\x04"


class ScriptedStream:
    """A BoxStream without a box; ``typed`` and ``sizes`` hold what it was sent."""

    def __init__(
        self,
        output: bytes = b"",
        *,
        exit_code: int = 0,
        lasts: bool = False,
        echoes: bool = False,
        pipes: bool = False,
    ) -> None:
        """Show ``output``; where it ``lasts``, end only by the last word or by ``close``.

        The last word is Ctrl-D on a terminal and the end of what is sent with ``pipes``, where all
        comes in pieces of standard output.
        """
        self._pipes = pipes
        self.typed = b""
        self.sizes: list[TerminalSize] = []
        self._echoes = echoes
        self._arrived = deque([self._shown(output)] if output else [])
        self._exit_code = exit_code
        self._end = None if lasts else StreamEnd(exit_code=exit_code)
        self._failure: BoxError | None = None
        self._changed = anyio.Event()

    async def receive(self) -> bytes:
        """Return what came next; empty when nothing more will."""
        await lowlevel.checkpoint()
        while not self._arrived:
            if self._failure is not None:
                raise self._failure
            if self._end is not None:
                return b""
            await self._changed.wait()
        return self._arrived.popleft()

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Keep what is typed."""
        await lowlevel.checkpoint()
        if self._end is not None:
            return
        self.typed += data
        if self._echoes:
            text = data if self._pipes else _on_terminal(data)
            if text:
                self._arrived.append(self._shown(text))
        if self._is_last(data, last):
            self._end = StreamEnd(exit_code=self._exit_code)
        self._notify()

    def resize(self, size: TerminalSize) -> None:
        """Keep the size."""
        self.sizes.append(size)

    async def close(self) -> StreamEnd:
        """End it."""
        await lowlevel.checkpoint()
        if self._end is None:
            self._end = StreamEnd(reason="cancelled")
            self._notify()
        return self._end

    def show(self, data: bytes) -> None:
        """Let something appear."""
        self._arrived.append(self._shown(data))
        self._notify()

    def fail(self, failure: BoxError) -> None:
        """End it with the box."""
        self._failure = failure
        self._notify()

    def _shown(self, data: bytes) -> bytes:
        return piece_of("stdout", data) if self._pipes else data

    def _is_last(self, data: bytes, last: bool) -> bool:
        if not self._echoes:
            return False
        return last if self._pipes else END_OF_INPUT in data

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def _on_terminal(data: bytes) -> bytes:
    return data.replace(END_OF_INPUT, b"").replace(b"\n", b"\r\n")
