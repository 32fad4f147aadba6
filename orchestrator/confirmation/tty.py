"""The real terminal of ``TerminalConfirmer``: one file descriptor, read a key at a time.

A terminal that is gone (its window closed, its line dropped) shows nothing and gives no line, so
that whoever asks on it gets a no.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import termios
import tty
from collections.abc import Iterator

import anyio

CTRL_C, CTRL_D, ESCAPE, BACKSPACE, DELETE = "\x03", "\x04", "\x1b", "\x08", "\x7f"


class TtyTerminal:
    """A terminal behind a file descriptor open for reading and writing."""

    def __init__(self, fd: int) -> None:
        """Use ``fd``, which must be a terminal."""
        self._fd = fd

    def size(self) -> tuple[int, int]:
        """Return columns and lines."""
        with contextlib.suppress(OSError):
            found = os.get_terminal_size(self._fd)
            if found.columns and found.lines:
                return found.columns, found.lines
        return shutil.get_terminal_size()

    def write(self, text: str) -> None:
        """Show text that is already safe."""
        data = text.encode("utf-8", "backslashreplace")
        with contextlib.suppress(OSError):
            while data:
                data = data[os.write(self._fd, data) :]

    def discard_input(self) -> None:
        """Drop everything typed so far: no answer may be older than its question."""
        with contextlib.suppress(termios.error):
            termios.tcflush(self._fd, termios.TCIFLUSH)

    async def read_line(self) -> str | None:
        """Return the next line; None for Ctrl-C, Esc, or the end of input."""
        try:
            with self._keys():
                return await self._edit_line()
        except (OSError, termios.error):
            return None

    async def _edit_line(self) -> str | None:
        line = ""
        while True:
            await anyio.wait_readable(self._fd)
            data = os.read(self._fd, 1024)
            if not data:
                return None
            for key in data.decode("utf-8", "replace"):
                if key in {CTRL_C, ESCAPE} or (key == CTRL_D and not line):
                    self.write("\n")
                    return None
                if key in "\r\n":
                    self.write("\n")
                    return line
                if key in {BACKSPACE, DELETE}:
                    if line:
                        line = line[:-1]
                        self.write("\b \b")
                elif key.isprintable():
                    line += key
                    self.write(key)

    @contextlib.contextmanager
    def _keys(self) -> Iterator[None]:
        """Read keys without line editing or signals, so that Ctrl-C is an answer here."""
        before = termios.tcgetattr(self._fd)
        try:
            tty.setraw(self._fd, termios.TCSANOW)
            mode = termios.tcgetattr(self._fd)
            mode[1] = before[1]
            termios.tcsetattr(self._fd, termios.TCSANOW, mode)
            yield
        finally:
            termios.tcsetattr(self._fd, termios.TCSANOW, before)
