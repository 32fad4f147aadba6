"""Events as a chat shows them: lines that stay, and the line that is still growing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from orchestrator.cli.render import GUTTER, Progress
from orchestrator.confirmation.question_text import FRAME
from orchestrator.schema.event import (
    MessageDelta,
    MessageEnd,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from orchestrator.schema.event_base import Event
from orchestrator.schema.head_event import QueueChange
from orchestrator.schema.terminal_text import escape_terminal, wrap_cells

PROMPT = "» "
"""Stands before what the person says."""
DIFF_LINES = 40
"""Lines of an edit's diff that are shown; `/diff` shows all."""
SAID_LINES = 30
SAID_CHARACTERS = 2000
"""Of what a person said, and of one line of it, that are shown again: a paste may be long."""
SHORT = 200
"""Characters of something that waits to be said."""
COLOURS = {"+": "32", "-": "31", "@": "36"}
DIM, BOLD, YELLOW = "2", "1", "33"


class Sheet(Protocol):
    """Where lines go; ``Screen`` is the real one."""

    def put(self, text: str) -> None:
        """Have safe whole lines scroll by."""
        ...

    def grow(self, text: str, style: str = "live") -> None:
        """Show the safe line that is not whole yet."""
        ...


class View:
    """Shows the events of one session after the other."""

    def __init__(self, sheet: Sheet, *, colour: bool, columns: Callable[[], int]) -> None:
        """``columns`` tells how wide the sheet is now."""
        self._sheet = sheet
        self._colour = colour
        self._columns = columns
        self._progress = Progress(self._write, colour=colour, columns=columns)
        self._rest = ""
        self._thought = ""
        self._thinking = False
        self.unfolded = False
        """Show what the model thinks in full."""
        self.tokens = 0
        """Of the newest request and its answer."""

    def __call__(self, event: Event) -> None:
        """Show one event."""
        match event:
            case MessageDelta(kind="thinking"):
                self._think(event.text)
                return
            case MessageDelta() | MessageEnd() | ToolStart():
                self._end_thinking()
            case TurnStart():
                self._sheet.grow("…", "status")
            case TurnEnd():
                self.tokens = sum(n for kind, n in event.usage.items() if kind != "estimated")
                self._sheet.grow("")
            case _:
                pass
        if isinstance(event, MessageEnd | ToolStart) and not self._rest:
            self._sheet.grow("")
        self._progress(event)
        if isinstance(event, ToolEnd):
            self._diff(event)
        if isinstance(event, QueueChange):
            self._queue(event)

    def settle(self) -> None:
        """Have what was being said stay as it is: nothing of it comes any more."""
        self._end_thinking()
        self._progress.settle()
        self._sheet.grow("")

    def line(self, text: str, code: str = "") -> None:
        """Have one line stay; raw text is made safe here."""
        safe = _safe(text)
        self._sheet.put(f"\x1b[{code}m{safe}\x1b[0m\n" if self._colour and code else f"{safe}\n")

    def said(self, text: str) -> None:
        """Have what the person said stay, each of its lines marked as theirs; a long one folded."""
        self._sheet.put("\n")
        lines = text.split("\n")
        for number, line in enumerate(lines[:SAID_LINES]):
            cut = line if len(line) <= SAID_CHARACTERS else f"{line[:SAID_CHARACTERS]}…"
            self.line(f"{'  ' if number else PROMPT}{cut}", BOLD)
        if len(lines) > SAID_LINES:
            self.line(f"  … {len(lines) - SAID_LINES} more lines, all of them said", DIM)

    def recall(self, lines: Iterable[tuple[str, str]]) -> None:
        """Have what was said last stay, as ``recalling.recalled`` gives it."""
        before = ""
        for kind, line in lines:
            if kind == "said" and before != "said":
                self._sheet.put("\n")
            mark = "" if kind != "said" else "  " if before == "said" else PROMPT
            self.line(mark + line, {"said": BOLD, "note": DIM}.get(kind, ""))
            before = kind

    def diff(self, lines: Iterable[str]) -> None:
        """Have a whole diff stay; raw lines."""
        for line in lines:
            self.line(line.expandtabs(4), COLOURS.get(line[:1], ""))

    def show_thought(self) -> bool:
        """Show the newest thought in full; False where there is none."""
        if not self._thought:
            return False
        for line in self._behind_gutter(self._thought):
            self.line(line, DIM)
        return True

    def _write(self, text: str) -> None:
        """Take what Progress writes: whole lines stay, the rest grows."""
        whole, feed, rest = (self._rest + text).rpartition("\n")
        self._rest = rest
        if feed:
            self._sheet.put(whole + feed)
        self._sheet.grow(rest)

    def _think(self, text: str) -> None:
        self._thought = self._thought + text if self._thinking else text
        self._thinking = True
        words = len(self._thought.split())
        self._sheet.grow(f"thinking… {words} words", "status")

    def _end_thinking(self) -> None:
        """Fold a thought that is over into one line."""
        if not self._thinking:
            return
        self._thinking = False
        words = len(self._thought.split())
        if self.unfolded:
            self.show_thought()
        else:
            self.line(f"thought · {words} words · Ctrl-T shows them", DIM)

    def _queue(self, event: QueueChange) -> None:
        for text in event.steering:
            self.line(f"  waits for the next step: {text[:SHORT]}", YELLOW)
        for text in event.follow_up:
            self.line(f"  waits for the end: {text[:SHORT]}", YELLOW)

    def _diff(self, event: ToolEnd) -> None:
        diff = event.details.get("diff")
        if event.is_error or not isinstance(diff, str):
            return
        lines = diff.rstrip("\n").split("\n")
        width = self._columns() - len(GUTTER)
        for line in lines[:DIFF_LINES]:
            first, *more = wrap_cells(_safe(line.expandtabs(4)), max(width - 1, 1))
            self.line(f"{GUTTER}{first}{'…' * bool(more)}", COLOURS.get(line[:1], DIM))
        if len(lines) > DIFF_LINES:
            self.line(f"{GUTTER}… {len(lines) - DIFF_LINES} more lines; /diff shows all", DIM)

    def _behind_gutter(self, text: str) -> Iterator[str]:
        width = max(self._columns() - len(GUTTER) - 1, 1)
        for line in text.strip().split("\n"):
            for piece in wrap_cells(_safe(line.expandtabs(4)), width):
                yield GUTTER + piece


def _safe(text: str) -> str:
    """Return one line that moves no cursor and holds no frame of a question."""
    return escape_terminal(text).replace(FRAME.strip(), "|")
