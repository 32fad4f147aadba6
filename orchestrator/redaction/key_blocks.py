"""Private key blocks, line by line: with line numbers, in JSON escapes, cut at either end.

Each piece of key material gets a placeholder of its own, so that the lines keep their number and
whatever stood in front of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orchestrator.redaction.span import Certainty, Span

_MARKER = re.compile(
    r"-{4,5} ?(?P<side>BEGIN|END) (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|(?P<putty>Private-Lines: )[0-9]{1,4}"
)
_PIECE = re.compile(
    r"(?:(?<=\\[nrt])|(?<![A-Za-z0-9+/=\\]))(?![0-9]{1,7}(?![A-Za-z0-9+/=]))[A-Za-z0-9+/=]{4,}+"
)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MARGIN = r"[ \t#/*|>+\"'-]{0,8}"
_NUMBER = r"(?:[0-9]{1,7}[^A-Za-z0-9+/=\n]{1,5})?"
_PURE_LINE = re.compile(
    rf"{_MARGIN}{_NUMBER}{_MARGIN}(?P<run>[A-Za-z0-9+/]{{2,}}+={{0,2}})(?:\\[nrt]|[\s\"',+;)\\])*\Z"
)
_HEADER_LINE = re.compile(rf"{_MARGIN}{_NUMBER}[A-Za-z][A-Za-z-]{{1,40}}: ")
_MIXED = re.compile(r"(?=.*[0-9+])(?=.*[A-Za-z])")
_FLAT_PIECE = 40
"""A run this long shows that a line with other things in it carries key material."""
_BODY_RUN = 16


def find_key_blocks(text: str) -> Iterator[Span]:
    """Yield the key material of every private key block, of cut ones too."""
    if "PRIVATE KEY" not in text and "Private-Lines" not in text:
        return
    opened: int | None = None
    closed = 0
    for marker in _MARKER.finditer(text):
        if marker["side"] == "END":
            start = _cut_start(text, closed, marker.start()) if opened is None else opened
            yield from _material(text, start, marker.start())
            opened, closed = None, marker.end()
            continue
        if opened is not None:
            yield from _material(text, opened, _cut_end(text, opened, marker.start()))
        opened = marker.end()
    if opened is not None:
        yield from _material(text, opened, _cut_end(text, opened, len(text)))


def open_block_start(text: str) -> int | None:
    """Return where a block begins that the text's end cuts."""
    marker = None
    for marker in _MARKER.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    if marker is None or marker["side"] == "END":
        return None
    last_line = text.rfind("\n", marker.end()) + 1
    is_open = _cut_end(text, marker.end(), len(text)) >= last_line
    return marker.start() if is_open else None


def _material(text: str, start: int, end: int) -> Iterator[Span]:
    for line in _LINE.finditer(text, start, end):
        if _HEADER_LINE.match(line[0]):
            continue
        pieces = [piece.span() for piece in _PIECE.finditer(text, line.start(), line.end())]
        flat = any(last - first >= _FLAT_PIECE for first, last in pieces)
        if flat or _PURE_LINE.match(line[0]):
            yield from (Span(*piece, "private-key", Certainty.SHAPE) for piece in pieces)


def _cut_end(text: str, start: int, limit: int) -> int:
    """Return where the lines end that look like the body of a block without an end."""
    end = start
    for line in _LINE.finditer(text, start, limit):
        is_first = line.start() == start
        if not is_first and line[0].strip() and not _is_body(line[0]):
            return end
        end = line.end()
    return end


def _cut_start(text: str, limit: int, end: int) -> int:
    """Return where the lines begin that look like the body of a block without a beginning."""
    start = text.rfind("\n", limit, end) + 1 or limit
    while start > limit:
        before = text.rfind("\n", limit, start - 1) + 1 or limit
        if not _is_body(text[before:start]):
            break
        start = before
    return start


def _is_body(line: str) -> bool:
    if _HEADER_LINE.match(line):
        return True
    pure = _PURE_LINE.match(line)
    # The last line is short, and the line a cut went through may be: words do not look mixed.
    return pure is not None and (
        len(pure["run"]) >= _BODY_RUN or _MIXED.match(pure["run"]) is not None
    )
