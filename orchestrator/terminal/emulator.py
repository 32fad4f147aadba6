"""What a terminal would show of a program's bytes, as lines of our own making."""

from __future__ import annotations

from typing import NamedTuple

from pyte.streams import Stream

from orchestrator.schema.stream import TerminalSize
from orchestrator.terminal.drawing import draw_line
from orchestrator.terminal.screen import APPLICATION_KEYS, MARKED_PASTES, EmulatedScreen
from orchestrator.terminal.sequences import SequenceFilter


class _Parser(Stream):
    """The library's parser, with three sequences that it does not know."""

    csi = {  # noqa: RUF012 - the library's form
        **Stream.csi,
        "S": "scroll_up",
        "T": "scroll_down",
        "b": "repeat",
        "s": "save_cursor",
        "u": "restore_cursor",
    }


class Place(NamedTuple):
    """Where the cursor is, from 0, and whether it shows."""

    column: int
    row: int
    shown: bool


class Emulator:
    """Feed it bytes, take lines out; every line is safe to print."""

    def __init__(self, size: TerminalSize) -> None:
        """Begin with an empty screen."""
        self._screen = EmulatedScreen(size.columns, size.rows)
        self._parser = _Parser(self._screen, strict=False)
        self._filter = SequenceFilter(answers=True)

    @property
    def size(self) -> TerminalSize:
        """The screen's size now."""
        return TerminalSize(self._screen.columns, self._screen.lines)

    @property
    def cursor(self) -> Place:
        """Where the cursor is; beside the last column it stands on it."""
        cursor = self._screen.cursor
        return Place(min(cursor.x, self._screen.columns - 1), cursor.y, not cursor.hidden)

    @property
    def wants_application_keys(self) -> bool:
        """True where the program asked for the other form of arrow keys."""
        return APPLICATION_KEYS in self._screen.mode

    @property
    def wants_marked_pastes(self) -> bool:
        """True where the program asked to be told what is pasted."""
        return MARKED_PASTES in self._screen.mode

    def feed(self, data: bytes) -> None:
        """Act on what the program wrote."""
        text = self._filter.feed(data)
        try:
            self._parser.feed(text)
        # The library may stumble over what nobody thought of; the parser begins anew after it,
        # and a program's odd bytes must not end the person's terminal.
        except Exception:  # noqa: BLE001
            self._screen.reset()

    def resize(self, size: TerminalSize) -> None:
        """Take another size."""
        self._screen.resize(size.rows, size.columns)

    def take_replies(self) -> bytes:
        """Return what the program is to be answered, once."""
        replies, self._screen.replies = self._screen.replies, ""
        return replies.encode()

    def take_scrolled(self) -> tuple[list[str], int]:
        """Return the lines that left the top since last time, and how many are lost before them."""
        screen = self._screen
        lines = [draw_line(cells, screen.columns) for cells in screen.scrolled]
        lost = screen.scrolled_count - len(lines)
        screen.scrolled.clear()
        screen.scrolled_count = 0
        return lines, lost

    def take_changed(self, *, everything: bool = False) -> dict[int, str]:
        """Return the rows that may have changed since last time, or all of them, drawn."""
        screen = self._screen
        if everything:
            screen.dirty.update(range(screen.lines))
        changed = {
            y: draw_line(screen.buffer[y], screen.columns)
            for y in sorted(screen.dirty)
            if y < screen.lines
        }
        screen.dirty.clear()
        return changed

    def text(self) -> list[str]:
        """Return the screen's rows as plain text, without colours and trailing blanks."""
        screen = self._screen
        return [
            "".join(screen.buffer[y][x].data for x in range(screen.columns)).rstrip()
            for y in range(screen.lines)
        ]
