"""Where a wrapped program is shown, and how questions are asked while it is."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial

import anyio

from orchestrator.cli.run_io import RunIo
from orchestrator.confirmation.channels import Channel
from orchestrator.confirmation.gate import Answer, Question
from orchestrator.harness.wrap.beside import beside
from orchestrator.harness.wrap.pipes import Pipes
from orchestrator.harness.wrap.seat import Left
from orchestrator.sandbox.driver import BoxStream
from orchestrator.schema.event import (
    Observer,
)
from orchestrator.schema.event_base import Event
from orchestrator.schema.stream import TerminalSize
from orchestrator.terminal.raw_tty import RawTty
from orchestrator.terminal.sequences import SequenceFilter
from orchestrator.terminal.viewer import Viewer

READ_SIZE = 65_536
AT_ONCE = 4096
"""Bytes that a pipe which can be written to takes without waiting (PIPE_BUF)."""
MOST_HELD = 1000
"""Notes that are kept while the screen is the program's; the oldest go first."""


@dataclass(slots=True)
class WrapIo:
    """A RunIo that keeps off the screen while a program has it, and lends it out for a question."""

    io: RunIo
    viewer: Viewer | None = None
    _held: list[tuple[Observer, Event] | str] = field(default_factory=list)

    def observer(self, session: str) -> Observer:
        """Return what shows the events of one session, later where the screen is not ours."""
        show = self.io.observer(session)

        def observe(event: Event) -> None:
            if self.viewer is None:
                show(event)
            else:
                self._hold((show, event))

        return observe

    def person(self) -> Channel | None:
        """Return the person at the terminal; None where there is none."""
        person = self.io.person(self._room)
        return None if person is None else _Aside(person, self)

    def _room(self) -> AbstractAsyncContextManager[None]:
        """Lend the screen out for one question, where a program has it."""
        return self.viewer.aside() if self.viewer is not None else nullcontext()

    def note(self, text: str) -> None:
        """Tell the person something; ``text`` is already safe."""
        if self.viewer is None:
            self.io.note(text)
        else:
            self._hold(text)

    @asynccontextmanager
    async def showing(self, viewer: Viewer) -> AsyncIterator[None]:
        """Leave the screen to a program until the end of the block."""
        self.viewer = viewer
        try:
            yield
        finally:
            self.viewer = None
            held, self._held = self._held, []
            for item in held:
                if isinstance(item, str):
                    self.io.note(item)
                else:
                    item[0](item[1])

    def _hold(self, item: tuple[Observer, Event] | str) -> None:
        self._held.append(item)
        del self._held[:-MOST_HELD]


@dataclass(frozen=True, slots=True)
class _Aside:
    """A person whose screen may show a program, which is not written over."""

    inner: Channel
    io: WrapIo

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        return await self.inner.ask(question, timeout_s=timeout_s)

    async def close(self, question: Question, answer: Answer) -> Answer | None:
        # The screen is the program's again by now.
        return await self.inner.close(question, answer) if self.io.viewer is None else None


@dataclass(frozen=True, slots=True)
class TerminalSeat:
    """The person's own terminal."""

    io: WrapIo
    terminal: RawTty
    key: bytes
    """That leaves."""

    @property
    def size(self) -> TerminalSize | None:
        """Its size now."""
        return self.terminal.size()

    async def show(self, stream: BoxStream) -> Left:
        """Show a terminal of the box on it."""
        viewer = Viewer(stream, self.terminal, detach=self.key, heeds_signals=False)
        async with self.io.showing(viewer):
            left = await viewer.show()
        return "gone" if left == "signal" else left

    async def pipe(self, pipes: Pipes) -> Left:
        """Never asked for: a program gets a terminal here."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PipeSeat:
    """This process's own standard streams; ``events`` has all that is said told as events."""

    events: bool
    streams: tuple[int, int, int] = (0, 1, 2)
    """Descriptors of input, output and errors."""
    size: TerminalSize | None = None

    async def show(self, stream: BoxStream) -> Left:
        """Never asked for: a program gets pipes here."""
        raise NotImplementedError

    async def pipe(self, pipes: Pipes) -> Left:
        """Carry input, output and errors."""
        left: Left = "ended"
        async with beside(partial(_give, pipes, self.streams[0])):
            try:
                await self._take(pipes)
            except BrokenPipeError:
                left = "gone"
        return left

    async def _take(self, pipes: Pipes) -> None:
        outs = {"stdout": _Out(self.streams[1]), "stderr": _Out(self.streams[2])}
        while said := await pipes.receive():
            for source, data in said:
                if self.events:
                    pipes.tell(source, data)
                else:
                    await outs[source].write(data)


class _Out:
    """One of our own streams; what goes to a terminal is made harmless."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._waits = _can_wait(fd)
        self._filter = SequenceFilter() if os.isatty(fd) else None

    async def write(self, data: bytes) -> None:
        """Write all, as it is taken; BrokenPipeError where nobody reads it any more."""
        if self._filter is not None:
            data = self._filter.feed(data).encode("utf-8", "replace")
        view = memoryview(data)
        while view:
            if self._waits:
                # The descriptor is shared with whoever started us, so it stays a waiting one.
                await anyio.wait_writable(self._fd)
            view = view[os.write(self._fd, view[:AT_ONCE]) :]


async def _give(pipes: Pipes, fd: int) -> None:
    """Pass our standard input on until it ends."""
    waits = _can_wait(fd)
    while True:
        if waits:
            await anyio.wait_readable(fd)
        try:
            data = os.read(fd, READ_SIZE)
        except OSError:
            # Closed, or a terminal that is not ours: the program has no input then.
            data = b""
        await pipes.send(data, last=not data)
        if not data:
            return


def _can_wait(fd: int) -> bool:
    """Say whether a descriptor may have one wait; plain files and /dev/null never do."""
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


def seat_for(io: WrapIo, *, key: bytes, pipes: bool) -> TerminalSeat | PipeSeat:
    """Return a terminal where this process has one for input and output, its own streams else."""
    if pipes or io.io.json_events or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return PipeSeat(io.io.json_events)
    return TerminalSeat(io, RawTty.open(), key)
