"""One line of cells as text with colours: only sequences that are written here come out."""

from __future__ import annotations

from collections.abc import Mapping

from pyte.graphics import FG_BG_256
from pyte.screens import Char

from orchestrator.schema.terminal_text import escape_terminal

PLAIN = "\x1b[0m"
CLEAR_REST = "\x1b[K"

_NAMES = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
_COLOURS = {
    **{name: str(30 + number) for number, name in enumerate(_NAMES)},
    **{f"bright{name}": str(90 + number) for number, name in enumerate(_NAMES)},
    # As the library spells it.
    "bfightmagenta": "95",
}
_PALETTE = {colour: number for number, colour in reversed(list(enumerate(FG_BG_256)))}
_HEX = frozenset("0123456789abcdef")
_UNSHOWABLE = "\ufffd"


def draw_line(cells: Mapping[int, Char], columns: int) -> str:
    """Return a line's first ``columns`` cells; it ends plain, with the rest of the row cleared."""
    pieces = [PLAIN]
    style = ""
    for x in range(_last(cells, columns) + 1):
        cell = cells[x]
        if not cell.data:
            continue
        wanted = _style(cell)
        if wanted != style:
            pieces.append(f"{PLAIN}{wanted}")
            style = wanted
        pieces.append(_safe(cell.data))
        wide = x + 1 < columns and not cells[x + 1].data
        if wide or len(cell.data) > 1:
            # Terminals disagree on such characters' width.
            pieces.append(f"\x1b[{x + 2 + wide}G")
    return "".join([*pieces, PLAIN, CLEAR_REST] if style else [*pieces, CLEAR_REST])


def _last(cells: Mapping[int, Char], columns: int) -> int:
    """Return the last column that is not blank; -1 for an empty line."""
    for x in range(columns - 1, -1, -1):
        cell = cells[x]
        if cell.data not in {" ", ""} or cell.bg != "default" or cell.reverse or cell.underscore:
            return x
    return -1


def _safe(data: str) -> str:
    plain = data.isascii() and data.isprintable()
    return data if plain or escape_terminal(data) == data else _UNSHOWABLE


def _style(cell: Char) -> str:
    codes = [
        code
        for code, wanted in (
            ("1", cell.bold),
            ("3", cell.italics),
            ("4", cell.underscore),
            ("5", cell.blink),
            ("7", cell.reverse),
            ("9", cell.strikethrough),
        )
        if wanted
    ]
    codes += _colour(cell.fg, 0) + _colour(cell.bg, 10)
    return f"\x1b[{';'.join(codes)}m" if codes else ""


def _colour(name: str, shift: int) -> list[str]:
    if name in _COLOURS:
        return [str(int(_COLOURS[name]) + shift)]
    if name in _PALETTE:
        return [f"{38 + shift};5;{_PALETTE[name]}"]
    if len(name) == 6 and _HEX.issuperset(name):
        red, green, blue = (int(name[at : at + 2], 16) for at in (0, 2, 4))
        return [f"{38 + shift};2;{red};{green};{blue}"]
    return []
