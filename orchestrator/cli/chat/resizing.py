"""Drawing anew in a window that became narrower.

Many terminals wrap what is on the screen again when their window changes. Rows that were drawn then
fill more of them than before, and more have to be taken away.
"""

from __future__ import annotations

from collections.abc import Mapping

from prompt_toolkit.application import Application
from prompt_toolkit.layout.screen import Screen

_MARKS = (
    "TMUX",
    "VTE_VERSION",
    "KITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "ALACRITTY_WINDOW_ID",
    "WT_SESSION",
    "KONSOLE_VERSION",
)
_PROGRAMS = frozenset({"iTerm.app", "iTerm2", "Apple_Terminal", "vscode", "WezTerm", "ghostty"})
"""Values of TERM_PROGRAM, and of LC_TERMINAL, which goes along over ssh."""
_KINDS = ("tmux", "xterm-kitty", "alacritty", "foot", "wezterm", "xterm-ghostty")


def wraps_again(environ: Mapping[str, str]) -> bool:
    """Say whether this terminal is one that does; where nobody knows, nothing is taken away."""
    kind = environ.get("TERM", "")
    if kind.startswith("screen") and "TMUX" not in environ:
        # GNU screen keeps rows as they are, whatever marks of the terminal around it are there.
        return False
    programs = {environ.get("TERM_PROGRAM", ""), environ.get("LC_TERMINAL", "")}
    marked = any(mark in environ for mark in _MARKS)
    return marked or kind.startswith(_KINDS) or bool(programs & _PROGRAMS)


def added_rows(screen: Screen, cursor: tuple[int, int], columns: int) -> int:
    """Return how many rows lie above a cursor (column, row) beyond those that were drawn."""
    column, row = cursor
    above = sum((max(_width(screen, at), 1) - 1) // columns for at in range(row))
    return above + column // columns


def _width(screen: Screen, row: int) -> int:
    drawn = [at for at, char in screen.data_buffer[row].items() if char.char != " "]
    return max(drawn, default=-1) + 1


class ResizedApplication(Application[None]):
    """An application that knows what its terminal does to its rows."""

    wraps_again = False

    def _on_resize(self) -> None:
        drawn = self.renderer.last_rendered_screen
        if self.wraps_again and drawn is not None:
            cursor = drawn.get_cursor_position(self.layout.current_window)
            added = added_rows(drawn, (cursor.x, cursor.y), self.output.get_size().columns)
            self.output.cursor_up(added)
        super()._on_resize()
