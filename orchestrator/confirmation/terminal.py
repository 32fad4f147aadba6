"""Asking a person at a terminal: the whole question, escaped, then one deliberate key.

``question_text`` decides what is shown; ``tty`` moves the bytes; this file holds the order:
show everything, drop what was typed before, read one answer, and take everything but a clear
yes for a no.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
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
from orchestrator.confirmation.turns import Turns
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
Room = Callable[[], AbstractAsyncContextManager[None]]
"""Makes room on a screen, for the time of the block."""
SHORT = 60
"""Characters of a question's subject by which it is named once it is over."""


class TerminalConfirmer:
    """A person at a terminal."""

    def __init__(
        self,
        terminal: Terminal,
        *,
        name: str = "",
        bell: bool = True,
        room: Room = nullcontext,
    ) -> None:
        """Ask on ``terminal``, called ``name`` in records; one question at a time.

        ``room`` makes room on the screen for the time of one question.
        """
        self._terminal = terminal
        self._name = name
        self._bell = bell
        self._room = room
        self._turns = Turns()
        self._on_screen: Question | None = None
        self._begun: set[str] = set()
        """Questions that were shown and had no answer here."""
        self._later: list[str] = []
        """What is to be said when no question is on the screen."""

    async def ask(self, question: Question, *, timeout_s: float) -> Answer:
        """Show the question whole and return the answer; silence is a no.

        The time counts from now, also while another question is on the screen.
        """
        end = anyio.current_time() + timeout_s
        with anyio.move_on_at(end):
            async with self._turns.turn(behind=question.aside), self._room():
                return await self._shown(question, end)
        return Answer(yes=False, by="timeout", reason="nobody answered in time")

    async def close(self, question: Question, answer: Answer) -> Answer | None:
        """Say that a question which was on the screen was answered elsewhere."""
        if question.id in self._begun and answer.by != "timeout":
            who = f" ({escape_terminal(answer.who)})" if answer.who else ""
            word = "yes" if answer.yes else "no"
            what = escape_terminal(question.subject)[:SHORT]
            self._later.append(f"answered elsewhere: {word}, by {answer.by}{who}: {what}")
        self._begun.discard(question.id)
        if self._on_screen is None:
            self._say_later()
        return None

    async def _shown(self, question: Question, end: float) -> Answer:
        self._say_later()
        self._on_screen = question
        self._begun.add(question.id)
        try:
            answer = await self._converse(question)
        except anyio.get_cancelled_exc_class():
            # Nothing that is typed from here on is an answer to it.
            late = anyio.current_time() >= end
            what = "no answer in time: no." if late else "this question is over here."
            self._terminal.write(f"\n{what}\n")
            raise
        finally:
            self._on_screen = None
        self._begun.discard(question.id)
        return replace(answer, who=user_name(), via=self._name)

    def _say_later(self) -> None:
        for text in self._later:
            self._terminal.write(f"\n{text}\n")
        self._later.clear()

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
