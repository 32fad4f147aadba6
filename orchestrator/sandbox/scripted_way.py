"""The shipped stand-in for programs in a box that want to leave it, played by the caller."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio import lowlevel

from orchestrator.errors import BoxError
from orchestrator.sandbox.driver import Outside
from orchestrator.schema.egress import Caller
from orchestrator.schema.stream import StreamEnd, TerminalSize
from orchestrator.schema.way_out import Incoming, WayOut


class _Half:
    """Bytes one way."""

    def __init__(self) -> None:
        self.pieces: deque[bytes] = deque()
        self.ended = False
        self.broken = False
        self._changed = anyio.Event()

    def put(self, data: bytes, *, last: bool) -> None:
        if data:
            self.pieces.append(data)
        self.ended = self.ended or last
        self.notify()

    async def take(self) -> bytes:
        await lowlevel.checkpoint()
        while not self.pieces:
            if self.broken:
                raise ConnectionResetError("the connection broke")
            if self.ended:
                return b""
            await self._changed.wait()
        return self.pieces.popleft()

    def breaks(self) -> None:
        self.broken = True
        self.notify()

    def notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


class ScriptedEnd:
    """One end of a connection; the host's is a BoxStream, the other a program's socket."""

    def __init__(self, read: _Half, written: _Half) -> None:
        """Read from one half and write to the other."""
        self._read = read
        self._written = written
        self._closed = False

    async def receive(self) -> bytes:
        """Return what came next; empty when nothing more will."""
        return await self._read.take()

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send bytes, ``last`` to say that no more follow."""
        await lowlevel.checkpoint()
        if self._written.broken:
            raise ConnectionResetError("the connection broke")
        self._written.put(data, last=last)

    def resize(self, size: TerminalSize) -> None:
        """Do nothing: a connection has no size."""

    async def close(self) -> StreamEnd:
        """Let go of it: in order after the last word, else the other end sees it break."""
        await lowlevel.checkpoint()
        if not self._closed:
            self._closed = True
            if not self._written.ended:
                self._written.breaks()
            self._read.breaks()
        return StreamEnd()


class ScriptedWay:
    """The way out of one scripted box; ``way`` is what the box was told, None while it is shut."""

    def __init__(self) -> None:
        """Let nothing out yet."""
        self.way: WayOut | None = None
        self._outside: Outside | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._ends: list[ScriptedEnd] = []

    @asynccontextmanager
    async def open(self, way: WayOut, outside: Outside) -> AsyncIterator[None]:
        """Let out what is played while the context is entered."""
        if self._outside is not None:
            raise RuntimeError("let_out() is entered already")
        self.way, self._outside = way, outside
        try:
            yield
        finally:
            self.way = self._outside = None
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.gather(*tasks, return_exceptions=True)
                for end in self._ends:
                    await end.close()

    async def connect(self, incoming: Incoming) -> ScriptedEnd:
        """Play a program that connects; ConnectionRefusedError while nothing is let out."""
        await lowlevel.checkpoint()
        if self._outside is None:
            raise ConnectionRefusedError("nothing is let out")
        up, down = _Half(), _Half()
        host = ScriptedEnd(up, down)
        self._ends.append(host)
        task = asyncio.get_running_loop().create_task(_serve(self._outside, incoming, host))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return ScriptedEnd(down, up)

    async def converse(self, words: bytes) -> bytes:
        """Play a program that says something to the proxy and returns all that it is answered."""
        end = await self.connect(Incoming("proxy"))
        await end.send(words)
        answer = b""
        while piece := await end.receive():
            answer += piece
        await end.close()
        return answer

    async def look_up(self, name: str, caller: Caller | None = None) -> bool:
        """Play a program that looks a name up; False while nothing is let out."""
        await lowlevel.checkpoint()
        return self._outside is not None and await self._outside.knows(name, caller)


async def _serve(outside: Outside, incoming: Incoming, stream: ScriptedEnd) -> None:
    try:
        # A program that goes away is an end like any other.
        with suppress(OSError, BoxError):
            await outside.serve(incoming, stream)
    # One connection must not end the session.
    except Exception as err:  # noqa: BLE001
        message = f"the way out: a connection by {incoming.door} failed"
        asyncio.get_running_loop().call_exception_handler({"message": message, "exception": err})
    finally:
        await stream.close()
