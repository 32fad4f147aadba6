"""A command with the offending part underlined, safe to print and in line with what is seen."""

from __future__ import annotations

import unicodedata

from orchestrator.schema.terminal_text import escape_terminal

MAX_WIDTH = 160
"""Columns shown of a line; a longer one is cut around the span."""
_ELLIPSIS = "..."


def underline(text: str, span: tuple[int, int] | None) -> list[str]:
    """Return the lines that hold the span, each followed by its carets; all lines without one."""
    if span is None or span[0] >= span[1]:
        return [_cut(escape_terminal(line)) for line in text.split("\n")]
    shown: list[str] = []
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        first, last = max(span[0], start), min(span[1], end)
        if first < last:
            shown += _marked(line, first - start, last - start)
        start = end + 1
    return shown or [_cut(escape_terminal(line)) for line in text.split("\n")]


def _marked(line: str, first: int, last: int) -> list[str]:
    before, part, after = (
        escape_terminal(piece) for piece in (line[:first], line[first:last], line[last:])
    )
    if _width(before) + _width(part) + _width(after) > MAX_WIDTH:
        before = before if len(before) <= 40 else _ELLIPSIS + before[-37:]
        part, after = _cut(part, MAX_WIDTH // 2), _cut(after, 40)
    return [before + part + after, " " * _width(before) + "^" * max(1, _width(part))]


def _cut(text: str, width: int = MAX_WIDTH) -> str:
    return text if len(text) <= width else text[: width - len(_ELLIPSIS)] + _ELLIPSIS


def _width(text: str) -> int:
    """Return the columns a terminal gives the text."""
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
