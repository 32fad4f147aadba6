"""What a person may overlook in a text, however it is shown. Pure."""

from __future__ import annotations

import re

from orchestrator.schema.terminal_text import escape_terminal

SHOWN_WORDS = 5
DIRECTIONS = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
WORD = re.compile(r"\w+")
LATIN = re.compile(r"[A-Za-z]")
LOOKALIKE = re.compile(
    r"[\u0370-\u03ff\u0400-\u052f\u0530-\u058f\u13a0-\u13ff\u1d00-\u1dbf\u2100-\u214f"
    r"\u2c80-\u2cff\ua640-\ua69f\uff21-\uff5a\U0001d400-\U0001d7ff]"
)
"""Greek, Cyrillic, Armenian, Cherokee, Coptic, phonetic, full-width and mathematical letters."""


def warnings(text: str) -> list[str]:
    """Return what a person may not see in the text, however it is shown."""
    found = []
    if DIRECTIONS.search(text):
        found.append("it holds characters that reverse the direction of text, shown as escapes")
    if hides_characters(text):
        found.append("it holds hidden or control characters, shown as escapes")
    strange = sorted({word for word in WORD.findall(text) if _is_mixed(word)})
    if strange:
        listed = ", ".join(ascii(word)[1:-1] for word in strange[:SHOWN_WORDS])
        found.append(f"it holds letters that look like others: {listed}")
    return found


def _is_mixed(word: str) -> bool:
    """Say whether a word has letters of the Latin alphabet and of one that looks like it."""
    return (
        not word.isascii() and LATIN.search(word) is not None and LOOKALIKE.search(word) is not None
    )


def hides_characters(text: str) -> bool:
    """Say whether the text holds anything but visible characters, blanks, tabs and newlines."""
    return escape_terminal(text, keep_newlines=True) != text
