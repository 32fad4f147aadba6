"""From emulator to screen: only rows that changed, and scrolled ones into the screen's own history."""

from __future__ import annotations

from orchestrator.schema.stream import TerminalSize
from orchestrator.terminal.drawing import CLEAR_REST, PLAIN
from orchestrator.terminal.emulator import Emulator

BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"
"""A terminal that knows these shows what is between them at once."""
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
NO_WRAP, WRAP = "\x1b[?7l", "\x1b[?7h"
MARK_PASTES, PLAIN_PASTES = "\x1b[?2004h", "\x1b[?2004l"
CLEAR = "\x1b[H\x1b[2J"
EMPTY = f"{PLAIN}{CLEAR_REST}"


class Painter:
    """Knows what the screen shows, and what it takes to show what the emulator holds."""

    def __init__(self, size: TerminalSize) -> None:
        """Expect a screen of this size."""
        self._shown: list[str | None] = [None] * size.rows

    def enter(self) -> str:
        """Return what makes room: all that is on the screen goes into its history."""
        return "\n" * len(self._shown) + PLAIN + CLEAR + NO_WRAP + MARK_PASTES

    def leave(self, emulator: Emulator) -> str:
        """Return what gives the screen back, with the cursor below the last used row."""
        used = [y for y, line in enumerate(emulator.text()) if line]
        row = max([emulator.cursor.row, *used]) + 1
        return f"{PLAIN}{WRAP}{PLAIN_PASTES}{_at(row)}\r\n{SHOW}"

    def forget(self) -> None:
        """Draw every row in the next frame."""
        self._shown = [None] * len(self._shown)

    def resize(self, size: TerminalSize) -> str:
        """Return what clears a screen whose size changed: nobody knows what it shows now."""
        self._shown = [None] * size.rows
        return PLAIN + CLEAR

    def frame(self, emulator: Emulator) -> str:
        """Return what brings the screen up to date."""
        pieces = [BEGIN, HIDE]
        scrolled, lost = emulator.take_scrolled()
        if lost:
            scrolled.insert(0, f"{PLAIN}… {lost} lines went by …{CLEAR_REST}")
        while scrolled:
            part, scrolled = scrolled[: len(self._shown)], scrolled[len(self._shown) :]
            pieces += self._scroll_away(part)
        changed = emulator.take_changed(everything=None in self._shown)
        for row, shown in enumerate(self._shown):
            line = changed.get(row, shown)
            if line is not None and line != shown:
                pieces += (_at(row + 1), line)
                self._shown[row] = line
        place = emulator.cursor
        pieces += (_at(place.row + 1, place.column + 1), SHOW if place.shown else "", END)
        return "".join(pieces)

    def _scroll_away(self, part: list[str]) -> list[str]:
        """Put lines on the first rows and push them out at the top."""
        pieces: list[str] = []
        for row, line in enumerate(part):
            if line != self._shown[row]:
                pieces += (_at(row + 1), line)
        pieces += (PLAIN, _at(len(self._shown)), "\n" * len(part))
        rest: list[str | None] = [EMPTY] * len(part)
        self._shown = self._shown[len(part) :] + rest
        return pieces


def _at(row: int, column: int = 1) -> str:
    return f"\x1b[{row};{column}H"
