import os
import termios

import anyio
import pytest

from orchestrator.errors import UsageError
from orchestrator.schema.stream import TerminalSize
from orchestrator.terminal.raw_tty import RawTty


@pytest.fixture
def ends():
    master, slave = os.openpty()
    yield master, slave
    for fd in (master, slave):
        try:
            os.close(fd)
        except OSError:
            continue


def test_modes_are_restored_whatever_happens(ends):
    """A person's terminal is never left without echo."""
    slave = ends[1]
    before = termios.tcgetattr(slave)
    meanwhile = []

    def fail():
        with RawTty(os.dup(slave)).raw():
            meanwhile.append(termios.tcgetattr(slave)[3])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert not meanwhile[0] & (termios.ECHO | termios.ISIG | termios.ICANON)
    assert termios.tcgetattr(slave) == before


def test_keys_and_text_pass(ends):
    """Every byte, Ctrl-C included; more text than a terminal takes at once."""
    master, slave = ends
    got = []

    async def scene():
        tty = RawTty(os.dup(slave))
        with tty.raw():
            os.write(master, b"\x03x")
            keys = await tty.read()
            async with anyio.create_task_group() as group:
                group.start_soon(reader)
                await tty.write("ü" * 100_000)
            return keys

    async def reader():
        size = 0
        while size < 200_000:
            await anyio.wait_readable(master)
            got.append(os.read(master, 65_536))
            size += len(got[-1])

    assert anyio.run(scene) == b"\x03x"
    assert b"".join(got).decode() == "ü" * 100_000


def test_size_is_the_windows(ends):
    """A terminal without a window has a usual one."""
    master, slave = ends
    tty = RawTty(os.dup(slave))
    assert tty.size() == TerminalSize(80, 24)
    termios.tcsetwinsize(master, (10, 33))
    assert tty.size() == TerminalSize(33, 10)


def test_terminal_that_is_gone_gives_nothing(ends):
    """No key, and writing says so."""
    master, slave = ends
    tty = RawTty(os.dup(slave))
    os.close(master)

    assert anyio.run(tty.read) == b""
    with pytest.raises(OSError, match="error"):
        anyio.run(tty.write, "x")
    tty.close()


def test_no_terminal_is_a_usage_error(tmp_path):
    """With a way out."""
    with pytest.raises(UsageError, match="expected a terminal") as caught:
        RawTty.open(tmp_path / "none")

    assert "script" in caught.value.hint
