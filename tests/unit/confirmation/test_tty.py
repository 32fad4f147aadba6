"""The real terminal, on a real pseudo-terminal."""

import os
import termios
import threading
import time

import anyio
import pytest

from orchestrator.confirmation.tty import TtyTerminal


@pytest.fixture
def pty():
    master, slave = os.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def read_line(pty, keys):
    master, slave = pty
    terminal = TtyTerminal(slave)

    def type_keys():
        time.sleep(0.1)
        os.write(master, keys)

    threading.Thread(target=type_keys, daemon=True).start()

    async def run():
        with anyio.fail_after(5):
            return await terminal.read_line()

    return anyio.run(run)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (b"yes\r", "yes"),
        (b"nx\x7f why not\r", "n why not"),
        (b"\x03", None),
        (b"\x1b", None),
        (b"\x04", None),
        (b"y\x1b[A\r", None),
        ("n für später\r".encode(), "n für später"),
    ],
)
def test_keys_become_a_line_or_none(pty, keys, line):
    """Ctrl-C, Esc and the end of input are no line; arrow keys begin with Esc."""
    assert read_line(pty, keys) == line


def test_the_terminal_is_as_before_afterwards(pty):
    """Line editing and signals come back."""
    before = termios.tcgetattr(pty[1])
    read_line(pty, b"y\r")

    assert termios.tcgetattr(pty[1]) == before


def test_typed_ahead_keys_are_dropped(pty):
    """What was typed before the question does not answer it."""
    master, slave = pty
    os.write(master, b"y\r")
    time.sleep(0.1)
    TtyTerminal(slave).discard_input()

    assert read_line(pty, b"n\r") == "n"
