"""Untrusted text made safe to show: what a person sees is what the text holds.

Everything that moves a cursor, reorders, hides or fakes a space is shown as a backslash escape.
A backslash of the text itself stays single: doubling it would make shell commands unreadable, and
a text that spells an escape out can only look more suspicious than it is, never less.
"""

from __future__ import annotations

import re
import unicodedata

# Categories Cc, Cf, Cs, Zl, Zp, and Zs but the plain space (a test compares them with Unicode's
# own table), then letters and marks that draw nothing: fillers, joiners, variation selectors.
_CONTROLS = r"\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029"
_FORMATS = (
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufeff\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SPACES = r"\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_BLANKS = r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"

_UNSAFE = re.compile(f"[{_CONTROLS}{_FORMATS}{_SPACES}{_BLANKS}]")
_UNSAFE_IN_BLOCK = re.compile(f"(?![\\n\\t])[{_CONTROLS}{_FORMATS}{_SPACES}{_BLANKS}]")
_STACK = re.compile(
    r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4,}"
)
"""More marks on one letter than any language puts there: they would cover the lines around it."""
TAB = 4
"""Screen columns of a tab in a block, where it is shown as blanks."""
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escape_terminal(text: str, *, keep_newlines: bool = False) -> str:
    r"""Return text whose every character is visible as itself, a plain space or an escape.

    ``\x1b``, ``\u202e`` and ``\U000e0001`` are the forms. With ``keep_newlines`` line feeds and
    tabs stay, for blocks such as diffs; a carriage return never does.
    """
    safe = (_UNSAFE_IN_BLOCK if keep_newlines else _UNSAFE).sub(_escape, text)
    return safe if safe.isascii() else _STACK.sub(_escape_all, safe)


def wrap_cells(text: str, width: int) -> list[str]:
    """Return one line of safe text in pieces that each fill at most ``width`` screen columns.

    What a terminal would wrap by itself would begin a line that nothing of ours stands before.
    """
    pieces, piece, used = [], "", 0
    for char in text.expandtabs(TAB):
        cells = cell_width(char)
        if piece and used + cells > width:
            pieces.append(piece)
            piece, used = "", 0
        piece += char
        used += cells
    return [*pieces, piece]


def cell_width(char: str) -> int:
    """Return how many screen columns a character of safe text fills: 0, 1 or 2."""
    if char < "\u0300":
        return 1
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def _escape_all(match: re.Match[str]) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in match[0])


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
