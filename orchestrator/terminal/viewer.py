"""A person at a terminal in the box: keys go in, the emulator's screen is shown."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Literal, Protocol

import anyio

from orchestrator.errors import GloveboxError
from orchestrator.schema.stream import TerminalSize
from orchestrator.terminal.emulator import Emulator
from orchestrator.terminal.keys import Keys
from orchestrator.terminal.painter import Painter
from orchestrator.terminal.raw_tty import RawTty

FRAME_S = 0.02
"""Between two frames at least; a screen shows no more."""
SLICE = 4096
"""Bytes that are emulated before keys are looked at again."""
LAST_S = 1.0
"""How long the last frame may take on a slow line."""

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

Left = Literal["ended", "detached", "gone", "signal"]


class Bytes(Protocol):
    """The far end."""

    async def receive(self) -> bytes:
        """Return what came next; empty at the end."""
        ...

    async def send(self, data: bytes) -> None:
        """Send bytes as they are taken."""
        ...

    def resize(self, size: TerminalSize) -> None:
        """Tell the new size."""
        ...


class Viewer:
    """Shows one stream on one terminal until either ends or the person leaves."""

    def __init__(
        self, stream: Bytes, terminal: RawTty, *, detach: bytes, heeds_signals: bool = True
    ) -> None:
        """``detach`` is the key that leaves.

        ``heeds_signals`` is False where somebody else sees to those that end this process.
        """
        self._stream = stream
        self._terminal = terminal
        self._keys = Keys(detach)
        size = terminal.size()
        self._emulator = Emulator(size)
        self._painter = Painter(size)
        self._dirty = anyio.Event()
        self._painted = anyio.Lock()
        self._left: Left = "ended"
        self._failure: GloveboxError | None = None
        self._watched = (signal.SIGWINCH, *(ENDING if heeds_signals else ()))
        self._back = anyio.Event()
        self._back.set()
        self._reading = anyio.CancelScope()

    async def show(self) -> Left:
        """Return why it ended, or raise what ended it; the terminal is as before by then."""
        with self._terminal.raw():
            try:
                await self._terminal.write(self._painter.enter())
                async with anyio.create_task_group() as group:
                    for task in (self._show_output, self._send_keys, self._heed_signals):
                        group.start_soon(self._until, task, group.cancel_scope)
                    group.start_soon(self._paint)
                    # What is asked for before the first word may have been resized already.
                    self._stream.resize(self._emulator.size)
            except* OSError:
                self._left = "gone"
            finally:
                with anyio.move_on_after(LAST_S, shield=True), contextlib.suppress(OSError):
                    await self._terminal.write(self._last_words())
        if self._failure is not None:
            raise self._failure
        return self._left

    async def _until(self, task: Callable[[], Awaitable[Left]], scope: anyio.CancelScope) -> None:
        try:
            left = await task()
        except GloveboxError as error:
            # Raised once the terminal is as before, so that it can be read.
            self._failure, left = error, "ended"
        if not scope.cancel_called:
            self._left = left
        scope.cancel()

    async def _show_output(self) -> Left:
        while data := await self._stream.receive():
            for start in range(0, len(data), SLICE):
                self._emulator.feed(data[start : start + SLICE])
                self._dirty.set()
                replies = self._emulator.take_replies()
                if replies:
                    await self._stream.send(replies)
                await anyio.lowlevel.checkpoint()
        return "ended"

    async def _send_keys(self) -> Left:
        while (data := await self._typed()) != b"":
            if data is None:
                continue
            typed, left = self._keys.feed(
                data,
                application=self._emulator.wants_application_keys,
                marked=self._emulator.wants_marked_pastes,
            )
            if typed:
                await self._stream.send(typed)
            if left:
                return "detached"
        return "gone"

    async def _typed(self) -> bytes | None:
        """Return the next keys, empty where the terminal is gone; None where it was lent out."""
        await self._back.wait()
        with anyio.CancelScope() as self._reading:
            return await self._terminal.read()
        return None

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Lend the terminal out; until the end of the block nothing is shown or read here."""
        async with self._painted:
            self._back = anyio.Event()
            self._reading.cancel()
            try:
                await self._terminal.write(self._last_words())
                with self._terminal.as_before():
                    yield
            finally:
                self._back.set()
                with anyio.CancelScope(shield=True):
                    await self._terminal.write(self._painter.enter())
                self._painter.forget()
                self._dirty.set()

    async def _heed_signals(self) -> Left:
        with anyio.open_signal_receiver(*self._watched) as signals:
            async for number in signals:
                if number != signal.SIGWINCH:
                    return "signal"
                async with self._painted:
                    size = self._terminal.size()
                    self._emulator.resize(size)
                    self._stream.resize(size)
                    await self._terminal.write(self._painter.resize(size))
                self._dirty.set()
        return "signal"

    async def _paint(self) -> None:
        while True:
            await self._dirty.wait()
            self._dirty = anyio.Event()
            async with self._painted:
                await self._terminal.write(self._painter.frame(self._emulator))
            await anyio.sleep(FRAME_S)

    def _last_words(self) -> str:
        # A frame may have been cut off: what the screen shows is not known.
        self._painter.forget()
        return self._painter.frame(self._emulator) + self._painter.leave(self._emulator)
