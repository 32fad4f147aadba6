"""A person at a real pseudo-terminal in front of the real approver, and the screen that they see."""

from __future__ import annotations

import os
import select
import struct
import termios
from collections.abc import Sequence
from fcntl import ioctl
from typing import Any

import anyio
import pyte

from orchestrator.confirmation.gate import Answer, Question
from orchestrator.confirmation.terminal import TerminalConfirmer
from orchestrator.confirmation.tty import TtyTerminal

READY = ("(default): ", "n answers no -- ")
"""What stands before the cursor when a key is waited for."""


class Seat:
    """One terminal; what was written is kept, and drawn by an emulator."""

    def __init__(self, size: tuple[int, int] = (80, 24)) -> None:
        columns, rows = size
        self._ours, self._theirs = os.openpty()
        ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.written = ""
        self.screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=0.5)
        self._stream = pyte.Stream(self.screen)
        self.confirmer = TerminalConfirmer(TtyTerminal(self._theirs))

    def ask(
        self,
        question: Question,
        keys: Sequence[str] = (),
        *,
        before: str = "",
        hang_up: bool = False,
        timeout_s: float = 1.0,
    ) -> Answer:
        """Return the answer that the keys give: one of ``keys`` each time a key is waited for.

        ``before`` is typed before the question appears; ``hang_up`` closes the line after all keys.
        """
        os.write(self._ours, before.encode())
        answers: list[Answer] = []

        async def person(scope: anyio.CancelScope) -> None:
            left, since = list(keys), 0
            with scope:
                while True:
                    await anyio.wait_readable(self._ours)
                    self._draw(os.read(self._ours, 65_536).decode())
                    if not self.written[since:].endswith(READY):
                        continue
                    since = len(self.written)
                    if left:
                        os.write(self._ours, left.pop(0).encode())
                    elif hang_up:
                        os.close(self._ours)
                        return

        async def run() -> None:
            scope = anyio.CancelScope()
            async with anyio.create_task_group() as group:
                group.start_soon(person, scope)
                answers.append(await self.confirmer.ask(question, timeout_s=timeout_s))
                scope.cancel()

        anyio.run(run)
        while not hang_up and select.select([self._ours], [], [], 0)[0]:
            self._draw(os.read(self._ours, 65_536).decode())
        return answers[0]

    def lines(self) -> list[str]:
        """Return every line that the person has seen, scrolled away or on the screen."""
        columns = self.screen.columns
        gone = [
            "".join(row[at].data for at in range(columns)).rstrip()
            for row in self.screen.history.top
        ]
        return [*gone, *(line.rstrip() for line in self.screen.display)]

    def text(self) -> str:
        """Return those lines as one text."""
        return "\n".join(self.lines())

    def quoted(self) -> str:
        """Return what stands in the question's frame, joined again where it was wrapped."""
        framed = [line.removeprefix("┃ ") for line in self.lines() if line.startswith("┃")]
        return "".join(line.removeprefix("  ") for line in framed)

    def _draw(self, text: str) -> None:
        self.written += text
        self._stream.feed(text)

    def strange(self) -> set[str]:
        """Return the control characters that were written, besides line ends and the bell."""
        return {char for char in self.written if ord(char) < 32 or 127 <= ord(char) < 160} - {
            "\r",
            "\n",
            "\a",
        }

    def close(self) -> Any:
        """Give the terminal up."""
        for fd in (self._ours, self._theirs):
            try:
                os.close(fd)
            except OSError:
                continue
