"""The person's own terminal, key by key; as it was before, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import os
import termios
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import anyio

from orchestrator.errors import UsageError
from orchestrator.schema.stream import TerminalSize

TTY = Path("/dev/tty")
READ_SIZE = 4096


class RawTty:
    """A terminal behind a descriptor of its own."""

    def __init__(self, fd: int) -> None:
        """Take the descriptor over; it must be a terminal, and is closed by ``close``."""
        self._fd = fd
        self._before: list[Any] | None = None
        os.set_blocking(fd, False)

    @classmethod
    def open(cls, path: Path = TTY) -> Self:
        """Return the terminal that this process runs on; UsageError where there is none."""
        try:
            return cls(os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
        except OSError as err:
            raise UsageError(
                f"{path}: expected a terminal to show the box on, found none ({err.strerror})",
                hint="start this from a terminal, not from a script or a pipe",
            ) from err

    def size(self) -> TerminalSize:
        """Return its size; that of an old screen where it does not say."""
        with contextlib.suppress(OSError):
            found = os.get_terminal_size(self._fd)
            if found.columns and found.lines:
                return TerminalSize(found.columns, found.lines).bounded()
        return TerminalSize()

    async def read(self) -> bytes:
        """Return keys as they are typed; empty when the terminal is gone."""
        while True:
            await anyio.wait_readable(self._fd)
            try:
                return os.read(self._fd, READ_SIZE)
            except BlockingIOError:
                continue
            except OSError:
                return b""

    async def write(self, text: str) -> None:
        """Show safe text; OSError when the terminal is gone."""
        data = memoryview(text.encode("utf-8", "replace"))
        while data:
            try:
                data = data[os.write(self._fd, data) :]
            except BlockingIOError:
                await anyio.wait_writable(self._fd)

    @contextlib.contextmanager
    def raw(self) -> Iterator[None]:
        """Give every key as a byte, Ctrl-C too, until the end of the block."""
        self._before = before = termios.tcgetattr(self._fd)
        try:
            tty.setraw(self._fd, termios.TCSANOW)
            yield
        finally:
            # Gone with its window: nothing is left to restore.
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSANOW, before)

    @contextlib.contextmanager
    def as_before(self) -> Iterator[None]:
        """Within ``raw``, give the terminal its own modes until the end of the block."""
        try:
            if self._before is not None:
                termios.tcsetattr(self._fd, termios.TCSANOW, self._before)
            yield
        finally:
            with contextlib.suppress(termios.error):
                tty.setraw(self._fd, termios.TCSANOW)

    def close(self) -> None:
        """Let go of the descriptor."""
        os.close(self._fd)
