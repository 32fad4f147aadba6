"""A person at a pseudo-terminal in front of a chat's real surface, and the screen that they see."""

from __future__ import annotations

import os
import re
import signal
import struct
import termios
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path

import anyio
import pyte

from orchestrator.cli.chat.terminal import Fittings, TerminalSurface
from orchestrator.confirmation.tty import TtyTerminal
from orchestrator.schema.terminal_text import escape_terminal

OWN = re.compile(
    r"\x1b\[(?:\?2026[hl]|\?25[hl]|\?7[hl]|\?2004[hl]|\?12[hl]|\?1l|[0-9]*[ABCDGJK]|"
    r"(?:[0-9]{1,3}(?:;[0-9]{1,3}){0,20})?m)"
)
"""Every sequence that the surface itself writes: none takes a text or asks for anything."""
COMMANDS = {"help": "list the commands", "tree": "show the tree", "thinking": "how hard"}


@dataclass
class Attended:
    """A conversation that a test plays."""

    directory: Path
    session: str = "0123456789ab"
    is_busy: bool = False
    stopped: int = 0
    secrets: tuple[str, ...] = ("hunter2-secret",)
    recounts: list = field(default_factory=list)
    shown: dict[str, str] = field(default_factory=lambda: {"model": "m/one", "window": "1000"})

    def facts(self):
        return self.shown

    def recount(self, then):
        self.recounts.append(then)

    def stop(self):
        self.stopped += 1

    def scrub(self, text):
        for secret in self.secrets:
            text = text.replace(secret, "[REDACTED]")
        return text


def strange(written):
    """Return what is neither one of our own sequences nor a character that shows as itself."""
    rest = OWN.sub("", written)
    return [char for char in rest if char not in "\r\n\b\a" and escape_terminal(char) != char]


class ChatSeat:
    """One terminal with a surface on it."""

    def __init__(self, root: Path, *, size: tuple[int, int] = (60, 16), colour: bool = False):
        columns, rows = size
        self.ours, theirs = os.openpty()
        self._in = os.fdopen(theirs, "r", encoding="utf-8")
        self._out = os.fdopen(os.dup(theirs), "w", encoding="utf-8", newline="")
        self._size(columns, rows)
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)
        self.written = ""
        self.surface = TerminalSurface(
            Fittings(
                history=root / "state" / "chat" / "said.jsonl",
                commands=COMMANDS,
                terminal=TtyTerminal(theirs, marks_pastes=True),
                colour=colour,
                source=self._in,
                out=self._out,
            )
        )
        self.talk = Attended(root)

    @asynccontextmanager
    async def sitting(self):
        """Have the surface on the screen until the end of the block."""
        async with self.surface.opened():
            self.surface.attend(self.talk)
            yield self
        await self.look()

    def type(self, text: str) -> None:
        os.write(self.ours, text.encode())

    async def look(self, seconds: float = 0.0) -> None:
        """Take in what was written."""
        await anyio.sleep(seconds)
        if self.ours < 0:
            return
        os.set_blocking(self.ours, False)
        with suppress(BlockingIOError, OSError):
            while data := os.read(self.ours, 65_536):
                self.written += data.decode("utf-8", "replace")
                self._stream.feed(data)

    async def until(self, words: str, *, gone: bool = False) -> str:
        """Wait until the screen shows some words, or does not any more."""
        with anyio.move_on_after(10):
            while (words in self.text()) is gone:
                await self.look(0.02)
        assert (words in self.text()) is not gone, f"{words!r}, gone={gone}:\n{self.text()}"
        return self.text()

    async def said(self):
        """Return the next thing that was said."""
        with anyio.fail_after(10):
            return await self.surface.read()

    def lines(self) -> list[str]:
        """Return every line that the person has seen, scrolled away or on the screen."""
        columns = self.screen.columns
        gone = ["".join(row[at].data for at in range(columns)) for row in self.screen.history.top]
        return [line.rstrip() for line in (*gone, *self.screen.display)]

    def text(self) -> str:
        return "\n".join(self.lines())

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(rows, columns)
        self._size(columns, rows)
        os.kill(os.getpid(), signal.SIGWINCH)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.ours)
        self.ours = -1

    def close(self) -> None:
        for stream in (self._in, self._out):
            stream.close()
        if self.ours >= 0:
            os.close(self.ours)

    def _size(self, columns: int, rows: int) -> None:
        ioctl(self._in.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
