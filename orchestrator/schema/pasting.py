"""How a terminal marks what is pasted (bracketed paste), and what is taken for pasted."""

from __future__ import annotations

PASTE_BEGIN, PASTE_END = "\x1b[200~", "\x1b[201~"
_MARKS = frozenset({PASTE_BEGIN, PASTE_END})
_LENGTH, _LAST = len(PASTE_END), PASTE_END[-1]
MARK_PASTES, MARK_NO_PASTES = "\x1b[?2004h", "\x1b[?2004l"
"""Tell a terminal to mark pastes; one that cannot passes over it."""


def without_marks(text: str) -> str:
    """Return a pasted text without the marks in it, nor those that taking them out would make."""
    if PASTE_BEGIN not in text and PASTE_END not in text:
        return text
    kept: list[str] = []
    for character in text:
        # A mark that is whole is taken off the end; what then meets there may be one too.
        kept.append(character)
        if character == _LAST and "".join(kept[-_LENGTH:]) in _MARKS:
            del kept[-_LENGTH:]
    return "".join(kept)


def is_pasted(keys: str) -> bool:
    """Say whether keys that came in one read were not pressed by a person, one after the other.

    They hold a paste's mark, or go on behind an Enter: a terminal without marks pastes lines so.
    """
    line = keys.removesuffix("\n").removesuffix("\r")
    return PASTE_BEGIN in keys or PASTE_END in keys or "\r" in line or "\n" in line
