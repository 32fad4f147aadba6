"""Values the harness was given, found in any form that programs commonly print them in."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.redaction.placeholder import kind_from
from orchestrator.redaction.span import Certainty, Span
from orchestrator.redaction.views import plain_readings, views_of, without_cut_escape

_MIN_CASELESS = 12
"""Shorter values in other capitals may be words."""
MIN_LENGTH = 8
"""Shorter values occur by chance; they are listed as too short instead."""

_MIN_OPEN_WRAPPED = 4
"""Characters of a value before a line break or escape that make a stream wait for the rest: with
fewer, every line that ends in a value's first letter would wait."""
_WINDOW = 1 << 20
_MIN_LINE = 20
_LINE_OF_KEY = re.compile(r"[A-Za-z0-9+/=_-]+\Z")
_BASE64_HEAD = re.compile(r"[A-Za-z0-9+/_-]\Z")
_BASE64_TAIL = re.compile(r"[A-Za-z0-9+/_-]?={0,2}")
_PUNCTUATION = re.compile(r"[^A-Za-z0-9._=+/-]")
"""What encoders escape; base64 keeps its own signs in all but URLs, see ``_needles``."""
_GROWTH = 12
"""How many times longer than the value its longest escaped form may be, for windows."""


@dataclass(frozen=True, slots=True)
class _Needle:
    text: str
    kind: str
    partial_head: bool = False
    """Base64: the character before shares bits with the secret."""
    is_base64: bool = False
    views: bool = True
    """Whether its signs are to be looked for escaped too, which takes longer."""


class KnownValues:
    """The needles for all known values."""

    def __init__(self, known: Mapping[str, str]) -> None:
        """``known`` maps a name, which placeholders show, to a value."""
        values = [(name, value.strip()) for name, value in known.items()]
        self.too_short = tuple(name for name, value in values if 0 < len(value) < MIN_LENGTH)
        needles: dict[str, _Needle] = {}
        for name, value in sorted(values, key=lambda item: -len(item[1])):
            if len(value) >= MIN_LENGTH:
                for needle in _needles(value, kind_from(name)):
                    needles.setdefault(needle.text, needle)
        self._needles = tuple(needles.values())
        self._punctuation = any(_PUNCTUATION.search(one.text) for one in self._needles if one.views)
        self.longest = max((len(needle.text) for needle in self._needles), default=0)

    def find(self, text: str) -> Iterator[Span]:
        """Yield every occurrence; the same place may come more than once."""
        if not self._needles:
            return
        overlap = self.longest * _GROWTH
        for at in range(0, max(len(text), 1), _WINDOW):
            window = text[at : at + _WINDOW + overlap]
            if not self._occur_in(window):
                continue
            for reading, back in views_of(window, punctuation=self._punctuation):
                for needle in self._needles:
                    for start, end in _occurrences(reading, needle):
                        first, last = back(start, end)
                        yield Span(at + first, at + last, needle.kind, Certainty.KNOWN)

    def _occur_in(self, text: str) -> bool:
        return any(
            needle.text in reading
            for reading in plain_readings(text, punctuation=self._punctuation)
            for needle in self._needles
        )

    def open_tail(self, text: str) -> int:
        """Return where the text's end may be the beginning of a known value; its length if not."""
        reach = self.longest * _GROWTH
        offset = max(0, len(text) - reach)
        earliest = len(text)
        tail = without_cut_escape(text[offset:])
        for reading, back in views_of(tail, punctuation=self._punctuation):
            # An escape within an escape may be cut in the reading only.
            whole = without_cut_escape(reading)
            for needle in self._needles:
                length = _open_length(whole, needle.text)
                if length >= (1 if reading is tail else _MIN_OPEN_WRAPPED):
                    start = back(len(whole) - length, len(whole))[0]
                    earliest = min(earliest, offset + start - needle.partial_head)
        return max(0, earliest)


def _needles(value: str, kind: str) -> Iterator[_Needle]:
    raw = value.encode("utf-8", "surrogatepass")
    yield _Needle(value, kind)
    if " " in value:
        yield _Needle(value.replace(" ", "+"), kind)
    yield _Needle(raw.hex(), kind)
    yield _Needle(raw.hex().upper(), kind)
    for parted in (raw.hex(":"), raw.hex(":").upper()):
        yield _Needle(parted, kind, views=False)
    if len(value) >= _MIN_CASELESS:
        yield from (_Needle(other, kind) for other in {value.lower(), value.upper()} - {value})
    yield from _base64_needles(raw, kind)
    lines = value.splitlines()
    if len(lines) > 1:
        yield _Needle("".join(line.strip() for line in lines), kind)
        for line in lines:
            if len(line) >= _MIN_LINE and _LINE_OF_KEY.match(line):
                yield _Needle(line, kind)


def _base64_needles(raw: bytes, kind: str) -> Iterator[_Needle]:
    """Yield what all base64 texts that hold the bytes have in common, by where the bytes start."""
    for before in range(3):
        padded = base64.b64encode(bytes(before) + raw).decode()
        whole = (before + len(raw)) * 8 // 6
        core = padded[(0, 2, 3)[before] : whole]
        for form in {core, core.replace("+", "-").replace("/", "_")}:
            yield _Needle(form, kind, partial_head=before > 0, is_base64=True)


def _occurrences(text: str, needle: _Needle) -> Iterator[tuple[int, int]]:
    at = text.find(needle.text)
    while at >= 0:
        start, end = at, at + len(needle.text)
        if needle.partial_head and _BASE64_HEAD.match(text, start - 1, start):
            start -= 1
        if needle.is_base64:
            tail = _BASE64_TAIL.match(text, end)
            end = tail.end() if tail else end
        yield start, end
        at = text.find(needle.text, at + len(needle.text))


def _open_length(text: str, needle: str) -> int:
    """Return the length of the longest end of ``text`` that begins ``needle`` without being it."""
    at = text.find(needle[0], max(0, len(text) - len(needle) + 1))
    while at >= 0:
        if needle.startswith(text[at:]):
            return len(text) - at
        at = text.find(needle[0], at + 1)
    return 0
