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

from orchestrator.schema.pasting import MARK_NO_PASTES, MARK_PASTES, is_pasted

CTRL_C, CTRL_D, ESCAPE, BACKSPACE, DELETE = "\x03", "\x04", "\x1b", "\x08", "\x7f"
PASTED = "what is pasted is no answer; type it: "
SILENCE_S = 0.3
"""Seconds without a byte after which a paste is over."""


class TtyTerminal:
    """A terminal behind a file descriptor open for reading and writing."""

    def __init__(self, fd: int, *, marks_pastes: bool = False) -> None:
        """Use ``fd``, which must be a terminal; ``marks_pastes`` where it can be told to do so."""
        self._fd = fd
        self._marks_pastes = marks_pastes

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
        """Return the next line that is typed; None for Ctrl-C, Esc, or the end of input.

        What is pasted, and what was begun before it, is dropped, and that is said.
        """
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
            text = data.decode("utf-8", "replace")
            if is_pasted(text):
                await self._drop_paste()
                self.write(f"\n{PASTED}")
                line = ""
                continue
            for key in text:
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

    async def _drop_paste(self) -> None:
        """Drop what comes until nothing does for a moment; its end mark may be a part of it."""
        while True:
            with anyio.move_on_after(SILENCE_S) as silence:
                await anyio.wait_readable(self._fd)
            if silence.cancelled_caught or not os.read(self._fd, 65_536):
                return

    @contextlib.contextmanager
    def _keys(self) -> Iterator[None]:
        """Read keys without line editing or signals, so that Ctrl-C is an answer here."""
        before = termios.tcgetattr(self._fd)
        try:
            tty.setraw(self._fd, termios.TCSANOW)
            mode = termios.tcgetattr(self._fd)
            mode[1] = before[1]
            termios.tcsetattr(self._fd, termios.TCSANOW, mode)
            if self._marks_pastes:
                self.write(MARK_PASTES)
            yield
        finally:
            if self._marks_pastes:
                self.write(MARK_NO_PASTES)
            termios.tcsetattr(self._fd, termios.TCSANOW, before)
