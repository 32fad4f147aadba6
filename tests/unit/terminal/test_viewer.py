import os
import signal
import termios
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import pytest

from orchestrator.errors import BoxError
from orchestrator.sandbox.scripted_stream import ScriptedStream
from orchestrator.schema.stream import TerminalSize
from orchestrator.terminal.emulator import Emulator
from orchestrator.terminal.raw_tty import RawTty
from orchestrator.terminal.viewer import Viewer
from tests.support.terminals import strange


@dataclass
class Desk:
    """A pseudo-terminal whose other end is a person."""

    master: int
    slave: int
    written: bytes = b""
    left: list = field(default_factory=list)

    async def look(self):
        while True:
            await anyio.wait_readable(self.master)
            self.written += os.read(self.master, 65_536)

    async def until(self, words):
        with anyio.fail_after(10):
            while words not in self.written:  # noqa: ASYNC110 - another task reads
                await anyio.sleep(0.01)


def sit(scene, stream, detach=b"\x1d"):
    """Show a stream, play a person, and return the desk and what the viewer said."""
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (10, 40))
    before = termios.tcgetattr(slave)
    desk = Desk(master, slave)

    async def whole():
        terminal = RawTty(os.dup(slave))
        viewer = Viewer(stream, terminal, detach=detach)
        try:
            async with anyio.create_task_group() as outer:
                outer.start_soon(desk.look)
                async with anyio.create_task_group() as group:
                    group.start_soon(scene, desk)
                    desk.left.append(await viewer.show())
                await anyio.sleep(0.05)
                outer.cancel_scope.cancel()
        finally:
            terminal.close()

    try:
        anyio.run(whole)
    finally:
        assert termios.tcgetattr(slave) == before
        os.close(master)
        os.close(slave)
    return desk


async def nothing(_desk):
    """Only look."""


def test_output_is_shown_and_the_end_is_told():
    """All of it, and the screen is given back."""
    desk = sit(nothing, ScriptedStream(b"hello\r\n\x1b]52;c;eA==\x07there"))

    assert desk.left == ["ended"]
    assert b"hello" in desk.written
    assert b"there" in desk.written
    assert strange(desk.written.decode()) == []
    assert desk.written.endswith(b"\x1b[?25h")


def test_keys_go_in_and_one_leaves():
    """The terminal stays open until the program ends or that key comes."""
    stream = ScriptedStream(b"$ ", lasts=True, echoes=True)

    async def scene(desk):
        await desk.until(b"$")
        os.write(desk.master, b"ls\x03")
        await desk.until(b"ls")
        os.write(desk.master, b"more\x1d")

    desk = sit(scene, stream)

    assert desk.left == ["detached"]
    assert stream.typed == b"ls\x03more"


def test_new_size_reaches_the_program_and_the_screen():
    """The window may change at any time."""
    stream = ScriptedStream(b"one two three", lasts=True)

    async def scene(desk):
        await desk.until(b"three")
        termios.tcsetwinsize(desk.slave, (5, 20))
        os.kill(os.getpid(), signal.SIGWINCH)
        await desk.until(b"\x1b[H\x1b[2J\x1b[?2026h")
        os.write(desk.master, b"\x1d")

    sit(scene, stream)

    assert stream.sizes == [TerminalSize(40, 10), TerminalSize(20, 5)]


def test_signal_ends_it_in_order():
    """The terminal is restored before this process goes."""

    async def scene(desk):
        await desk.until(b"x")
        os.kill(os.getpid(), signal.SIGTERM)

    assert sit(scene, ScriptedStream(b"x", lasts=True)).left == ["signal"]


def test_failure_of_the_box_comes_after_the_terminal_is_restored():
    """So that its message can be read."""
    stream = ScriptedStream(b"x", lasts=True)

    async def scene(desk):
        await desk.until(b"x")
        stream.fail(BoxError("box: it ended"))

    with pytest.raises(BaseExceptionGroup) as caught:
        sit(scene, stream)

    assert caught.group_contains(BoxError, match="it ended", depth=None)


def test_question_of_a_program_is_answered_by_the_emulator():
    """The person's terminal is not asked, so nothing can be read from it."""
    stream = ScriptedStream(b"ab\x1b[6n", lasts=True)

    async def scene(desk):
        with anyio.fail_after(5):
            while not stream.typed:  # noqa: ASYNC110 - another task types
                await anyio.sleep(0.01)
        os.write(desk.master, b"\x1d")

    desk = sit(scene, stream)

    assert stream.typed == b"\x1b[1;3R"
    assert b"6n" not in desk.written


def test_keys_are_heard_while_output_floods():
    """A person can always leave."""

    class Flood(ScriptedStream):
        async def receive(self):
            await anyio.lowlevel.checkpoint()
            return b"\x1b[31mflood \x1b[0m" * 400 + b"\r\n"

    async def scene(desk):
        await desk.until(b"flood")
        os.write(desk.master, b"\x1d")

    assert sit(scene, Flood(lasts=True)).left == ["detached"]


def test_screen_is_the_emulators():
    """What a person sees is what the emulator holds, drawn anew."""
    desk = sit(nothing, ScriptedStream("grüß\r\n漢字\r\n".encode()))
    glass = Emulator(TerminalSize(40, 10))
    glass.feed(desk.written)

    assert "grüß" in glass.text()
    assert "漢字" in glass.text()
