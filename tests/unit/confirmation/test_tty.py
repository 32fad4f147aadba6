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
        (b"\x7f\x7fy\x01\x04\r", "y"),
    ],
)
def test_keys_become_a_line_or_none(pty, keys, line):
    """Ctrl-C, Esc and the end of input are no line; arrow keys begin with Esc."""
    assert read_line(pty, keys) == line


@pytest.mark.parametrize(
    "pasted",
    [
        b"\x1b[200~y\r\x1b[201~",
        b"\x1b[200~some\ntext\x1b[201~y\r",
        b"some\ny\n",
        b"y\ry\r",
        b"rest of a paste\x1b[201~\r",
    ],
)
def test_what_is_pasted_is_no_answer(pty, pasted):
    """Marked or not, with an end mark in it or not; what is typed after it is one."""
    master, slave = pty
    terminal = TtyTerminal(slave, marks_pastes=True)
    shown = b""

    def type_keys():
        nonlocal shown
        shown += os.read(master, 100)
        os.write(master, b"y")
        time.sleep(0.1)
        os.write(master, pasted)
        while b"type it" not in shown:
            shown += os.read(master, 1000)
        os.write(master, b"no\r")

    threading.Thread(target=type_keys, daemon=True).start()

    async def run():
        with anyio.fail_after(10):
            return await terminal.read_line()

    assert anyio.run(run) == "no"
    assert shown.startswith(b"\x1b[?2004h")
    while b"\x1b[?2004l" not in shown:
        shown += os.read(master, 1000)


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


def test_size_is_the_terminals_own(pty):
    """Columns first, as they are used."""
    termios.tcsetwinsize(pty[1], (33, 111))

    assert TtyTerminal(pty[1]).size() == (111, 33)


def test_terminal_without_a_size_gets_a_usual_one(pty):
    """Some tell nothing, or zero."""
    columns, lines = TtyTerminal(pty[1]).size()

    assert columns > 0
    assert lines > 0


@pytest.mark.parametrize("when", ["before", "while"])
def test_terminal_that_goes_away_gives_no_line(when):
    """Its window closed before the question, or while it waits: nobody says yes."""
    master, slave = os.openpty()
    terminal = TtyTerminal(slave)
    if when == "before":
        os.close(master)
    else:
        threading.Timer(0.1, os.close, [master]).start()

    async def run():
        with anyio.fail_after(5):
            terminal.write("may it?")
            terminal.discard_input()
            return await terminal.read_line()

    try:
        assert anyio.run(run) is None
    finally:
        os.close(slave)


def test_text_is_written_whole(pty):
    """Half characters do not stop it."""
    TtyTerminal(pty[1]).write("x" * 100 + "\ud83d")

    assert os.read(pty[0], 4096) == b"x" * 100 + b"\\ud83d"
