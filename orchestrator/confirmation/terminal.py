"""Asking a person at a terminal: the whole question, escaped, then one deliberate key.

``question_text`` decides what is shown; ``tty`` moves the bytes; this file holds the order:
show everything, drop what was typed before, read one answer, and take everything but a clear
yes for a no.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import anyio

from orchestrator.confirmation.gate import Answer, Question, Scope
from orchestrator.confirmation.question_text import (
    KEYS,
    render_prompt,
    render_question,
    wider_offered,
)
from orchestrator.confirmation.scopes import offered
from orchestrator.confirmation.who import user_name
from orchestrator.schema.terminal_text import escape_terminal

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


BELL = "\a"


class TerminalConfirmer:
    """A person at a terminal."""

    def __init__(self, terminal: Terminal, *, name: str = "", bell: bool = True) -> None:
        """Ask on ``terminal``, called ``name`` in records; one question at a time."""
        self._terminal = terminal
        self._name = name
        self._bell = bell
        self._one_at_a_time = anyio.Lock()

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Show the question whole and return the answer; silence is a no."""
        async with self._one_at_a_time:
            with anyio.move_on_after(timeout_s):
                answer = await self._converse(question)
                return replace(answer, who=user_name(), via=self._name)
            self._terminal.write("\nno answer in time: no.\n")
            return Answer(yes=False, by="timeout", reason="nobody answered in time")

    async def close(self, question: Question, answer: Answer) -> Answer | None:  # noqa: ARG002 - the Protocol's form
        """Say that the question on the screen was answered elsewhere."""
        if answer.by != "timeout":
            who = f" ({escape_terminal(answer.who)})" if answer.who else ""
            word = "yes" if answer.yes else "no"
            self._terminal.write(f"\nanswered elsewhere: {word}, by {answer.by}{who}.\n")
        return None

    async def _converse(self, question: Question) -> Answer:
        columns, lines = self._terminal.size()
        if self._bell:
            self._terminal.write(BELL)
        self._terminal.discard_input()
        if not await self._show(render_question(question, columns), lines):
            return Answer(yes=False, by="terminal", reason="")
        self._terminal.discard_input()
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
            # A key that was typed before this page was there says nothing about it.
            self._terminal.discard_input()
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
    word = word.lower()
    if word in {"", "n", "no"}:
        return Answer(yes=False, by="terminal", reason=rest.strip())
    if rest:
        return None
    wide = word.endswith("*")
    scope = _scope(word.removesuffix("*"), question)
    if scope is None or (wide and (scope == "once" or not wider_offered(question))):
        return None
    return Answer(yes=True, by="terminal", scope=scope, widened=wide)


def _scope(word: str, question: Question) -> Scope | None:
    """Return the offered scope that a word stands for."""
    if word == "yes":
        return "once"
    named = {name: scope for scope in offered(question) for name in (KEYS.get(scope, scope), scope)}
    return named.get(word)
