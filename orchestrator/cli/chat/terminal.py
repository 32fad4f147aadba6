"""A chat on a terminal: a screen, its keys, and a person to be asked."""

from __future__ import annotations

import math
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import anyio

from orchestrator.cli.chat.completion import LineCompleter
from orchestrator.cli.chat.history import SaidHistory
from orchestrator.cli.chat.keys import bindings
from orchestrator.cli.chat.screen import Screen
from orchestrator.cli.chat.surface import Attended, Said
from orchestrator.cli.chat.view import DIM, View
from orchestrator.cli.run_io import PLAIN
from orchestrator.confirmation.channels import Channel
from orchestrator.confirmation.terminal import Terminal, TerminalConfirmer
from orchestrator.schema.event import Observer
from orchestrator.schema.event_base import Event
from orchestrator.schema.terminal_text import escape_terminal

GREETING = "Enter says a line · Ctrl-C stops the model · Ctrl-D leaves"
LEAVE_WORDS = "Ctrl-C again leaves"
LEAVE_WITHIN_S = 2.0


@dataclass(frozen=True, slots=True)
class Fittings:
    """What a terminal surface is made with."""

    history: Path
    commands: Mapping[str, str]
    """Names of commands and their helps, for completion."""
    terminal: Terminal | None
    """Where questions are asked."""
    name: str = ""
    """Of that terminal, in records."""
    bell: bool = True
    colour: bool = True
    source: TextIO = sys.stdin
    out: TextIO = sys.stdout
    """One terminal."""


class TerminalSurface:
    """The Surface on a real terminal."""

    def __init__(self, fittings: Fittings) -> None:
        """Take the terminal once it is opened."""
        self._fittings = fittings
        self._talk: Attended | None = None
        self._history = SaidHistory(fittings.history)
        self._interrupted = -math.inf
        self._said: deque[Said | None] = deque()
        self._came = anyio.Event()
        self._screen = Screen(
            bindings(self),
            history=self._history,
            completer=LineCompleter(fittings.commands, self._directory),
            status=self._status,
            source=fittings.source,
            out=fittings.out,
            colour=fittings.colour,
        )
        self._view = View(
            self._screen, colour=fittings.colour, columns=lambda: self._screen.size.columns
        )

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Take the terminal, and give it back at the end of the block."""
        # tmux keeps in its scrollback what is taken away from a screen's first row on.
        self._view.line(GREETING, DIM)
        begun = anyio.Event()
        failures: list[Exception] = []

        async def show() -> None:
            try:
                await self._screen.run(begun.set)
            except EOFError:
                # The terminal is gone: nobody says anything any more.
                self.leave()
            finally:
                begun.set()

        async with anyio.create_task_group() as group:
            group.start_soon(show)
            await begun.wait()
            try:
                yield
            # Out of a task group it would come wrapped in another kind.
            except Exception as error:  # noqa: BLE001
                failures.append(error)
            finally:
                self._screen.leave()
        if failures:
            raise failures[0]

    def attend(self, talk: Attended | None) -> None:
        """Belong to a conversation from now on, or to none."""
        self._talk = talk
        if talk is not None:
            self._history.keep(talk.scrub)
            talk.recount(self._screen.refresh)
        self._screen.refresh()

    def observer(self, session: str) -> Observer:
        """Return what shows the events of one session."""
        del session

        def observe(event: Event) -> None:
            self._view(event)

        return observe

    def person(self) -> Channel | None:
        """Return who is there to be asked; None where nobody is."""
        fittings = self._fittings
        if fittings.terminal is None:
            return None
        return TerminalConfirmer(
            fittings.terminal, name=fittings.name, bell=fittings.bell, room=self._screen.aside
        )

    def note(self, text: str) -> None:
        """Tell the person something; ``text`` is already safe, of one line or several."""
        self._screen.put(f"{text}\n")

    def recall(self, lines: Iterable[tuple[str, str]]) -> None:
        """Show what was said last in a session that is taken up again."""
        self._view.recall(lines)

    def draft(self, text: str) -> None:
        """Give the person a raw text back, to be changed and said anew."""
        buffer = self._screen.buffer
        buffer.text = f"{text}\n{buffer.text}" if buffer.text else text
        buffer.cursor_position = len(buffer.text)

    async def read(self) -> Said | None:
        """Return the next thing the person says, also while the model works; None to leave."""
        while not self._said:
            self._came = anyio.Event()
            await self._came.wait()
        return self._said.popleft()

    @property
    def is_busy(self) -> bool:
        """Say whether the model is at work."""
        return self._talk is not None and self._talk.is_busy

    def send(self, text: str, *, later: bool) -> None:
        """Have a line said."""
        self._view.said(text)
        self._say(Said(text, later))

    def stop(self) -> None:
        """Stop the model."""
        if self._talk is not None:
            self._talk.stop()

    def interrupt(self) -> None:
        """Leave at the second of two that are close together."""
        now = anyio.current_time()
        if now - self._interrupted < LEAVE_WITHIN_S:
            self.leave()
            return
        self._interrupted = now
        self.note(LEAVE_WORDS)

    def leave(self) -> None:
        """Leave the chat."""
        self._say(None)

    def fold(self) -> None:
        """Show thoughts in full, or fold them."""
        self.show_thoughts(shown=not self._view.unfolded)

    def show_thoughts(self, *, shown: bool) -> None:
        """Show what the model thinks, the newest thought first, or fold it."""
        self._view.unfolded = shown
        if not shown:
            self.note("thoughts are folded")
        elif not self._view.show_thought():
            self.note("thoughts will be shown")

    def settle(self) -> None:
        """Take what the model was saying for said: it was stopped, or has stopped."""
        self._view.settle()

    def diff(self, lines: Iterable[str]) -> None:
        """Show raw lines of a diff."""
        self._view.diff(lines)

    async def choose(self, rows: Sequence[str], at: int) -> int | None:
        """Let the person choose among safe rows; None for none of them."""
        return await self._screen.choose(rows, at)

    def _say(self, said: Said | None) -> None:
        self._said.append(said)
        self._came.set()

    def _directory(self) -> Path | None:
        return self._talk.directory if self._talk is not None else None

    def _status(self) -> str:
        if self._talk is None:
            return "  the box is being made ready"
        facts = dict(self._talk.facts())
        window = int(facts.pop("window", "0"))
        if self._view.tokens:
            share = f" ({self._view.tokens / window:.0%})" if window else ""
            facts["tokens"] = f"{_short(self._view.tokens)} tokens{share}"
        doing = "Esc stops" if self.is_busy else "/help"
        return escape_terminal("  " + " · ".join([*facts.values(), doing]))


def _short(count: int) -> str:
    return f"{count / 1000:.1f}k" if count >= 1000 else str(count)


def terminal_fits(environ: Mapping[str, str]) -> bool:
    """Say whether this process has a terminal that an input line can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and environ.get("TERM", "dumb") not in PLAIN


def wants_colour() -> bool:
    """Say whether the person has not asked for none."""
    return "NO_COLOR" not in os.environ
