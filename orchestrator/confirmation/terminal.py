"""Asking a person at a terminal: the whole question, escaped, then one deliberate key.

``question_text`` decides what is shown; ``tty`` moves the bytes; this file holds the order:
show everything, drop what was typed before, read one answer, and take everything but a clear
yes for a no.
"""

from __future__ import annotations

from typing import Protocol

import anyio

from orchestrator.confirmation.gate import Answer, Question
from orchestrator.confirmation.question_text import render_prompt, render_question, session_offered

PAGE_MARGIN = 2
"""Lines of a page kept free for the pager's own line and the cursor."""


class Terminal(Protocol):
    """The bytes of one terminal."""

    def size(self) -> tuple[int, int]:
        """Return columns and lines."""
        ...

    def write(self, text: str) -> None:
        """Show text that is already safe."""
        ...

    def discard_input(self) -> None:
        """Drop everything typed so far."""
        ...

    async def read_line(self) -> str | None:
        """Return the next line; None for Ctrl-C, Esc, or the end of input."""
        ...


class TerminalConfirmer:
    """A person at a terminal."""

    def __init__(self, terminal: Terminal) -> None:
        """Ask on ``terminal``; one question at a time."""
        self._terminal = terminal
        self._one_at_a_time = anyio.Lock()

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Show the question whole and return the answer; silence is a no."""
        async with self._one_at_a_time:
            with anyio.move_on_after(timeout_s):
                return await self._converse(question)
            self._terminal.write("\nno answer in time: no.\n")
            return Answer(yes=False, by="timeout", reason="nobody answered in time")

    async def _converse(self, question: Question) -> Answer:
        columns, lines = self._terminal.size()
        self._terminal.discard_input()
        if not await self._show(render_question(question, columns), lines):
            return Answer(yes=False, by="terminal", reason="")
        self._terminal.write(render_prompt(question))
        answer = parse_answer(await self._terminal.read_line(), question)
        if answer is None:
            self._terminal.write("not understood: no.\n")
            return Answer(yes=False, by="terminal")
        return answer

    async def _show(self, rows: list[str], lines: int) -> bool:
        """Show all rows, a page at a time; False when the person gave up before the end."""
        page = max(lines - PAGE_MARGIN, 5)
        for start in range(0, len(rows), page):
            self._terminal.write("".join(row + "\n" for row in rows[start : start + page]))
            left = len(rows) - start - page
            if left <= 0:
                break
            self._terminal.write(f"-- {left} more lines: Enter shows them, n answers no -- ")
            line = await self._terminal.read_line()
            if line is None or line.strip().lower() in {"n", "no", "q"}:
                return False
        return True


def parse_answer(line: str | None, question: Question) -> Answer | None:
    """Return the answer a line stands for; None when it stands for nothing."""
    if line is None:
        return Answer(yes=False, by="terminal")
    word, _, rest = line.strip().partition(" ")
    match word.lower():
        case "y" | "yes":
            return Answer(yes=True, by="terminal")
        case "s" | "session" if session_offered(question):
            return Answer(yes=True, by="terminal", scope="session")
        case "" | "n" | "no":
            return Answer(yes=False, by="terminal", reason=rest.strip())
        case _:
            return None
