"""A text as it would read without its wrapping or its escapes, each character traced to its place.

Known values are searched in every view, so that line breaks, colour codes, percent signs, JSON,
HTML and shell escapes, alone or nested, do not hide them.
"""

from __future__ import annotations

import html
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

_WRAPPING = re.compile(
    r"\x1b\[[0-9;:?]{0,32}[A-Za-z]|\n[ \t]*|\r\n[ \t]*|\\\r?\n[ \t]*|"
    r"\x00|\u200b|\u200c|\u200d|\u2060|\ufeff"
)
"""Each alternative begins with a character of its own: so `re` skips what begins with none."""
_NUMBERS = (
    r"%2[5BDEFbdef]|%[3-7][0-9A-Fa-f]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|&#x?[0-9A-Fa-f]{1,7};"
)
_NUMERIC_ESCAPE = re.compile(rf"{_NUMBERS}|&amp;(?=#)|\\(?:/|\\(?=[ux\\/]))")
_SIGNS = (
    rf"{_NUMBERS}|%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])++|'(?:\\'|\"'\")'|"
    r"&(?:amp|lt|gt|quot|apos);"
)
_ESCAPE = re.compile(rf"{_SIGNS}|\\[^A-Za-z0-9\t\r\n]|\\[nrt]")
_ESCAPE_BUT_BACKSLASH = re.compile(_SIGNS)
"""For texts in which a backslash is only a backslash."""
_CUT_ESCAPE = re.compile(
    r"(?:(?:%[0-9A-Fa-f]{0,2})+|\\(?:u[0-9A-Fa-f]{0,3}|x[0-9A-Fa-f]?)?|&#?[0-9A-Za-z]{0,7}|"
    r"\x1b(?:\[[0-9;:?]{0,32})?|'(?:\\'?)?)\Z"
)
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}
_ROUNDS = 3
"""Escapes within escapes: JSON in a JSON string in a log line."""


def without_cut_escape(text: str) -> str:
    """Return the text without an escape that its end may have cut."""
    tail = _CUT_ESCAPE.search(text, max(0, len(text) - 48))
    return text[: tail.start()] if tail else text


class View:
    """A derived text; ``origin`` leads back to the one it came from."""

    def __init__(self, text: str, pattern: re.Pattern[str], decode: Callable[[str], str]) -> None:
        """Derive by replacing each match of ``pattern``."""
        pieces: list[str] = []
        self._source_ends, self._own_starts, self._own_ends = (
            array("q", [0]),
            array("q", [0]),
            array("q", [0]),
        )
        self._source_starts = array("q", [0])
        done = length = 0
        for match in pattern.finditer(text):
            decoded = decode(match[0])
            pieces += (text[done : match.start()], decoded)
            length += match.start() - done
            self._source_starts.append(match.start())
            self._own_starts.append(length)
            length += len(decoded)
            self._own_ends.append(length)
            done = match.end()
            self._source_ends.append(done)
        pieces.append(text[done:])
        self.text = "".join(pieces)

    @property
    def differs(self) -> bool:
        """True when anything was replaced."""
        return len(self._own_ends) > 1

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the source that a range of this text came from."""
        return self._source_start(start), self._source_end(end)

    def _source_start(self, own: int) -> int:
        at = bisect_right(self._own_ends, own) - 1
        after = at + 1
        if after < len(self._own_starts) and self._own_starts[after] < own:
            return self._source_starts[after]
        return self._source_ends[at] + own - self._own_ends[at]

    def _source_end(self, own: int) -> int:
        after = bisect_left(self._own_ends, own)
        if after < len(self._own_ends) and self._own_starts[after] < own:
            return self._source_ends[after]
        at = after - 1
        return self._source_ends[at] + own - self._own_ends[at]


Back = Callable[[int, int], tuple[int, int]]
"""From a range in a reading to the range in the text that it came from."""


def views_of(text: str, *, punctuation: bool) -> Iterator[tuple[str, Back]]:
    """Yield each reading of the text, with the way back to places in the text itself.

    Without ``punctuation`` only escapes that can spell letters and digits are read.
    """
    yield text, _same
    reading: str = text
    back: Back = _same
    flat = View(text, _WRAPPING, lambda _: "")
    if flat.differs:
        reading, back = flat.text, flat.origin
        yield reading, back
    for pattern in _patterns(punctuation=punctuation):
        yield from _unescaped(reading, back, pattern)


def plain_readings(text: str, *, punctuation: bool) -> Iterator[str]:
    """Yield the same readings without a way back, many times as fast: most texts hold nothing."""
    yield text
    flat = _WRAPPING.sub("", text)
    if flat != text:
        yield flat
    for pattern in _patterns(punctuation=punctuation):
        reading = flat
        for _ in range(_ROUNDS):
            before, reading = reading, pattern.sub(lambda match: _decode(match[0]), reading)
            if reading == before:
                break
            yield reading


def _patterns(*, punctuation: bool) -> tuple[re.Pattern[str], ...]:
    return (_ESCAPE, _ESCAPE_BUT_BACKSLASH) if punctuation else (_NUMERIC_ESCAPE,)


def _unescaped(text: str, back: Back, pattern: re.Pattern[str]) -> Iterator[tuple[str, Back]]:
    for _ in range(_ROUNDS):
        view = View(text, pattern, _decode)
        if not view.differs:
            return
        text, back = view.text, _chained(view, back)
        yield text, back


def _chained(view: View, back: Back) -> Back:
    return lambda start, end: back(*view.origin(start, end))


def _same(start: int, end: int) -> tuple[int, int]:
    return start, end


def _decode(escape: str) -> str:
    if escape[0] == "%":
        return bytes.fromhex(escape.replace("%", "")).decode("utf-8", "replace")
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[0] == "'":
        return "'"
    if escape[1] in "ux":
        return chr(int(escape[2:], base=16))  # noqa: FURB166 - it begins with a backslash
    return _CONTROL.get(escape[1], escape[1])
