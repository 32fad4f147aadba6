"""The emulator's screen: the library's, with what it lacks and without what it does wrong."""

from __future__ import annotations

import unicodedata
from collections import deque
from typing import Any

from pyte import modes
from pyte.screens import Char, Cursor, Margins, Screen, StaticDefaultDict

from orchestrator.schema.terminal_text import cell_width

Cells = StaticDefaultDict[int, Char]

MOST_SCROLLED = 2000
"""Lines that left the top and wait to be shown; more of them at once push the first out."""
MOST_REPLIES = 1024
"""Characters of answers that wait to be sent; a flood of questions gets none."""
MOST_DATA = 8
"""Code points of one cell."""
_OTHER_SCREEN = frozenset({47, 1047, 1049})
APPLICATION_KEYS, MARKED_PASTES = 1 << 5, 2004 << 5


class EmulatedScreen(Screen):
    """Keeps lines that scroll off, has a second screen, answers for itself."""

    def __init__(self, columns: int, lines: int) -> None:
        """Begin with an empty screen."""
        self.scrolled: deque[Cells] = deque(maxlen=MOST_SCROLLED)
        self.scrolled_count = 0
        self.replies = ""
        self.on_other_screen = False
        self._first: tuple[dict[int, Cells], Cursor, int, int] | None = None
        self._last_drawn = ""
        super().__init__(columns, lines)

    def reset(self) -> None:
        """Return to the first screen, empty."""
        self.on_other_screen = False
        self._first = None
        self.savepoints = []
        super().reset()

    def draw(self, data: str) -> None:
        """Put characters at the cursor."""
        for char in data:
            width = 1 if char < "\x7f" else cell_width(char)
            if width:
                self._put(char, width)
            else:
                self._combine(char)
        self.dirty.add(self.cursor.y)

    def index(self) -> None:
        """Move down, keeping the line that leaves the top of the whole first screen."""
        top, bottom = self.margins or Margins(0, self.lines - 1)
        if self.cursor.y == bottom and top == 0 and not self.on_other_screen:
            self._keep(self.buffer[0])
        super().index()

    def set_mode(self, *numbers: int, **kwargs: Any) -> None:
        """Switch to the other screen where that is asked for; the rest is the library's."""
        if kwargs.get("private") and _OTHER_SCREEN.intersection(numbers):
            self._leave_first()
        super().set_mode(*numbers, **kwargs)

    def reset_mode(self, *numbers: int, **kwargs: Any) -> None:
        """Switch back to the first screen."""
        super().reset_mode(*numbers, **kwargs)
        if kwargs.get("private") and _OTHER_SCREEN.intersection(numbers):
            self._return_to_first()

    def save_cursor(self) -> None:
        """Keep one position: a stack of them would grow as long as somebody feeds it."""
        self.savepoints = []
        super().save_cursor()

    def restore_cursor(self) -> None:
        """Go to the kept position, which stays kept."""
        kept = list(self.savepoints)
        super().restore_cursor()
        self.savepoints = kept

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Take another size; rows that no longer fit go the way of scrolled ones."""
        rows = lines or self.lines
        # Only what the cursor would lose has to leave; empty rows below it go first.
        surplus = max(0, self.cursor.y - rows + 1)
        if not self.on_other_screen:
            for y in range(surplus):
                self._keep(self.buffer[y])
        self._shift_up(surplus)
        for y in [y for y in self.buffer if y >= rows]:
            del self.buffer[y]
        self.lines = min(self.lines, rows)
        super().resize(rows, columns)
        self.ensure_hbounds()
        self.ensure_vbounds()
        self.dirty.update(range(self.lines))

    def scroll_up(self, count: int | None = None) -> None:
        """Move the scrolling region's lines up; the library does not know this one."""
        self._at_top_of_region(self.delete_lines, count)

    def scroll_down(self, count: int | None = None) -> None:
        """Move the scrolling region's lines down."""
        self._at_top_of_region(self.insert_lines, count)

    def repeat(self, count: int | None = None) -> None:
        """Draw the last character again."""
        if self._last_drawn:
            self.draw(self._last_drawn * min(count or 1, self.columns * self.lines))

    def write_process_input(self, data: str) -> None:
        """Keep an answer for whoever sends it to the program that asked."""
        if len(self.replies) + len(data) <= MOST_REPLIES:
            self.replies += data

    def _put(self, char: str, width: int) -> None:
        self._last_drawn = char
        cursor = self.cursor
        if cursor.x + width > self.columns:
            if modes.DECAWM in self.mode:
                self.dirty.add(cursor.y)
                self.carriage_return()
                self.linefeed()
                cursor = self.cursor
            else:
                cursor.x = max(0, self.columns - width)
        if modes.IRM in self.mode:
            self.insert_characters(width)
        line = self.buffer[cursor.y]
        # Half of a wide character is none.
        if line[cursor.x].data == "" and cursor.x:
            line[cursor.x - 1] = line[cursor.x - 1]._replace(data=" ")
        line[cursor.x] = cursor.attrs._replace(data=char)
        after = cursor.x + width
        if width == 2 and cursor.x + 1 < self.columns:
            line[cursor.x + 1] = cursor.attrs._replace(data="")
        if after < self.columns and line[after].data == "":
            line[after] = line[after]._replace(data=" ")
        cursor.x = min(after, self.columns)

    def _combine(self, char: str) -> None:
        x = self.cursor.x - 1
        line = self.buffer[self.cursor.y]
        if x > 0 and line[x].data == "":
            x -= 1
        if x < 0 or len(line[x].data) >= MOST_DATA:
            return
        line[x] = line[x]._replace(data=unicodedata.normalize("NFC", line[x].data + char))

    def _keep(self, line: Cells) -> None:
        self.scrolled.append(line)
        self.scrolled_count += 1

    def _shift_up(self, count: int) -> None:
        if not count:
            return
        for y in range(self.lines):
            line = self.buffer.pop(y + count, None)
            if line is None:
                self.buffer.pop(y, None)
            else:
                self.buffer[y] = line
        self.cursor.y = max(0, self.cursor.y - count)

    def _at_top_of_region(self, act: Any, count: int | None) -> None:
        x, y = self.cursor.x, self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        act(count)
        self.cursor.x, self.cursor.y = x, y

    def _leave_first(self) -> None:
        if self.on_other_screen:
            return
        self.on_other_screen = True
        kept = Cursor(self.cursor.x, self.cursor.y, self.cursor.attrs)
        self._first = (dict(self.buffer), kept, self.lines, self.columns)
        self.buffer.clear()
        self.margins = None
        self.dirty.update(range(self.lines))

    def _return_to_first(self) -> None:
        if self._first is None:
            return
        buffer, cursor, lines, columns = self._first
        now = self.lines, self.columns
        self.on_other_screen, self._first = False, None
        self.buffer.clear()
        self.buffer.update(buffer)
        self.margins = None
        cursor.hidden = self.cursor.hidden
        self.cursor = cursor
        self.lines, self.columns = lines, columns
        self.resize(*now)
        self.dirty.update(range(self.lines))
