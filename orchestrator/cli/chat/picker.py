"""Choosing one of many rows by keys, in the place of the input line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prompt_toolkit.data_structures import Point
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import Dimension, FormattedTextControl, Window

PAGE = 10
"""Rows that a page key goes."""
HINT = "Up, Down, PageUp, PageDown, Home, End · Enter takes it · Esc goes back"

_MOVES = {
    "up": -1,
    "k": -1,
    "c-p": -1,
    "down": 1,
    "j": 1,
    "c-n": 1,
    "pageup": -PAGE,
    "pagedown": PAGE,
}


class Picker:
    """A window of rows, one of which is marked."""

    def __init__(
        self, done: Callable[[int | None], None], *, height: Callable[[], Dimension]
    ) -> None:
        """``done`` gets the number of the row that was taken, or None."""
        self._done = done
        self._rows: Sequence[str] = ()
        self._at = 0
        control = FormattedTextControl(
            self._shown,
            focusable=True,
            key_bindings=self._keys(),
            show_cursor=False,
            get_cursor_position=lambda: Point(0, self._at),
        )
        self.window = Window(control, height=height, dont_extend_height=True, wrap_lines=False)

    def begin(self, rows: Sequence[str], at: int) -> None:
        """Show safe rows, ``at`` marked."""
        self._rows, self._at = rows, min(max(at, 0), len(rows) - 1)

    def _move(self, by: int) -> None:
        self._at = min(max(self._at + by, 0), len(self._rows) - 1)

    def _shown(self) -> StyleAndTextTuples:
        return [
            ("reverse" if number == self._at else "", row + "\n" * (number + 1 < len(self._rows)))
            for number, row in enumerate(self._rows)
        ]

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        def mover(by: int) -> Callable[[KeyPressEvent], None]:
            return lambda _: self._move(by)

        for key, by in _MOVES.items():
            keys.add(key, eager=True)(mover(by))
        keys.add("home")(lambda _: self._move(-len(self._rows)))
        keys.add("end")(lambda _: self._move(len(self._rows)))
        keys.add("enter")(lambda _: self._done(self._at))
        for key in ("escape", "q", "c-c", "c-d"):
            keys.add(key)(lambda _: self._done(None))
        return keys
