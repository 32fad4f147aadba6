"""The command line on a real pseudo-terminal, and what a person would see on it."""

from __future__ import annotations

import re
import termios
import time
from typing import Any

import pexpect
import pyte

from orchestrator.schema.terminal_text import escape_terminal
from tests.support.world import GLOVEBOX, World

OWN = re.compile(
    r"\x1b\[(?:\?2026[hl]|\?25[hl]|[0-9]{1,4};[0-9]{1,4}H|H|2J|[0-9]{1,4}G|K|"
    r"(?:[0-9]{1,3}(?:;[0-9]{1,3}){0,20})?m)"
)
"""Every sequence of a frame: none takes a text or asks for anything."""
ONCE = ("\x1b[?7l", "\x1b[?2004h", "\x1b[?7h", "\x1b[?2004l")
"""What is written once, at the beginning or at the end."""


def strange(written: str) -> list[str]:
    """Return what is neither one of our own sequences nor a character that shows as itself."""
    for mode in ONCE:
        written = written.replace(mode, "", 1)
    rest = OWN.sub("", written)
    return [char for char in rest if char not in "\r\n" and escape_terminal(char) != char]


class Seat:
    """A person at a terminal: types, sees a screen, changes its size."""

    def __init__(
        self,
        world: World,
        *arguments: str,
        size: tuple[int, int] = (80, 24),
        env: dict[str, str] | None = None,
    ) -> None:
        columns, rows = size
        self.child = pexpect.spawn(
            str(GLOVEBOX),
            list(arguments),
            cwd=str(world.project),
            env={**world.env(), "TERM": "xterm-256color", **(env or {})},
            dimensions=(rows, columns),
            echo=False,
            timeout=60,
        )
        self.written = ""
        self.modes_at_end: list[Any] = []
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)

    def type(self, text: str | bytes) -> None:
        """Send keys."""
        self.child.send(text)

    def resize(self, columns: int, rows: int) -> None:
        """Change the window."""
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def modes(self) -> list[Any]:
        """Return the terminal's modes as they are now."""
        return termios.tcgetattr(self.child.child_fd)

    def text(self) -> str:
        """Return the screen's lines."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, words: str, seconds: float = 60.0) -> str:
        """Wait until the screen shows some words."""
        end = time.monotonic() + seconds
        while words not in self.text():
            assert time.monotonic() < end, f"no {words!r} on:\n{self.text()}"
            self._look(0.1)
        return self.text()

    def until_gone(self, words: str, seconds: float = 60.0) -> None:
        """Wait until the screen does not show some words any more."""
        end = time.monotonic() + seconds
        while words in self.text():
            assert time.monotonic() < end, f"still {words!r} on:\n{self.text()}"
            self._look(0.1)

    def ended(self, seconds: float = 60.0) -> int:
        """Wait for the end of the command and return its exit code."""
        end = time.monotonic() + seconds
        while self._look(0.1):
            assert time.monotonic() < end, f"still running:\n{self.text()}"
        self.modes_at_end = self.modes()
        self.child.close()
        assert self.child.exitstatus is not None, self.text()
        return self.child.exitstatus

    def close(self) -> None:
        """End it whatever it does."""
        self.child.close(force=True)

    def _look(self, seconds: float) -> bool:
        try:
            data: Any = self.child.read_nonblocking(65_536, seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.written += data.decode("utf-8", "replace")
        self._stream.feed(data)
        return True
