"""Lines in, lines out: chat where stdin or stdout is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import TextIO

from anyio import to_thread

from orchestrator.cli.chat.surface import Attended, Said
from orchestrator.cli.render import JsonLines, Progress
from orchestrator.cli.review import shown_line
from orchestrator.confirmation.channels import Channel
from orchestrator.schema.event import MessageEnd, Observer
from orchestrator.schema.event_base import Event
from orchestrator.schema.terminal_text import escape_terminal


@dataclass(slots=True)
class PlainSurface:
    """Each line of ``source`` is one thing said; answers go to ``out``, the rest to ``err``.

    With ``json_events`` all events go to ``out`` instead, a line each.
    """

    source: TextIO
    out: TextIO
    err: TextIO
    json_events: bool = False
    asked: Channel | None = None
    """Who answers questions; without one they are a no."""
    one_terminal: bool = False
    """``out`` and ``err`` are seen together: an answer is not shown twice."""
    _progress: Progress | None = None

    def opened(self) -> AbstractAsyncContextManager[None]:
        """Take nothing: streams are as they are."""
        return nullcontext()

    def attend(self, talk: Attended | None) -> None:
        """Show nothing of it: there is no status line."""
        del talk

    def observer(self, session: str) -> Observer:
        """Return what shows the events of one session."""
        if self.json_events:
            return JsonLines(lambda text: _put(self.out, text), session)
        progress = self._progress = Progress(lambda text: _put(self.err, text), colour=False)

        def show(event: Event) -> None:
            progress(event)
            if self.one_terminal or not isinstance(event, MessageEnd):
                return
            if event.message["stop_reason"] == "end_turn":
                _put(self.out, _text_of(event).rstrip("\n") + "\n")

        return show

    def person(self) -> Channel | None:
        """Return who is there to be asked: what comes on stdin is said to the model."""
        return self.asked

    def note(self, text: str) -> None:
        """Tell the person something; ``text`` is already safe."""
        _put(self.err, text + "\n")

    def settle(self) -> None:
        """Take what the model was saying for said: it was stopped, or has stopped."""
        if self._progress is not None:
            self._progress.settle()

    def diff(self, lines: Iterable[str]) -> None:
        """Show lines of a diff as they are, made safe."""
        for line in lines:
            self.note(shown_line(line))

    def show_thoughts(self, *, shown: bool) -> None:
        """Say that there is no way to: only what is done is shown here."""
        del shown
        self.note("thoughts are not shown here; --json has them")

    async def choose(self, rows: Sequence[str], at: int) -> int | None:
        """Show the rows: one is chosen by naming it with the command."""
        del at
        for row in rows:
            self.note(row)
        return None

    def recall(self, lines: Iterable[tuple[str, str]]) -> None:
        """Show what was said last beside the answers; a program that reads events has the file."""
        if not self.json_events:
            for kind, line in lines:
                self.note(escape_terminal(f"> {line}" if kind == "said" else line))

    def draft(self, text: str) -> None:
        """Show the text; there is no line to put it into."""
        self.note(escape_terminal(f"to be said anew: {text}"))

    async def read(self) -> Said | None:
        """Return the next line that says something; None at the end."""
        while line := await to_thread.run_sync(self.source.readline, abandon_on_cancel=True):
            if line.strip():
                return Said(line.rstrip("\n"))
        return None


def standard_surface(*, json_events: bool, asked: Channel | None = None) -> PlainSurface:
    """Return the surface of this process's own streams."""
    together = sys.stdout.isatty() and sys.stderr.isatty()
    return PlainSurface(
        sys.stdin, sys.stdout, sys.stderr, json_events, asked, one_terminal=together
    )


def _text_of(event: MessageEnd) -> str:
    parts = (part["text"] for part in event.message["content"] if part["type"] == "text")
    return escape_lines("".join(parts))


def escape_lines(text: str, escape: Callable[[str], str] = escape_terminal) -> str:
    """Return text of many lines made safe, its line feeds kept."""
    return "\n".join(escape(line) for line in text.split("\n"))


def _put(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()
