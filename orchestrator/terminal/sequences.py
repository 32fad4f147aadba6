"""Terminal output reduced to text and to the control sequences that can do no harm.

Whatever talks to the terminal itself is dropped: titles, clipboard, colours of the palette, device
queries, images, keyboard and mouse modes, and every string sequence, however long. What stays moves
the cursor, erases, scrolls and colours. Memory is bounded whatever comes.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

from orchestrator.schema.terminal_text import cell_width, escape_terminal

MAX_SEQUENCE = 64
"""Characters of one control sequence; a longer one is dropped."""
MAX_MARKS = 4
"""Combining marks on one character; more only cost whoever draws them."""

_SPECIAL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_KEPT_CONTROLS = {"\b": "\b", "\t": "\t", "\n": "\n", "\v": "\n", "\f": "\n", "\r": "\r"}
_CSI = re.compile(r"\x1b\[([0-9;:<=>?]{0,48})([ -/]{0,4})([@-~])")
_OPEN_CSI = re.compile(r"\x1b\[[0-9;:<=>?]*[ -/]*\Z")
_END_OF_STRING = re.compile(r"\x1b\\|[\x07\x18\x1a\x9c]|\x1b(?=[^\\])")
_STRINGS = frozenset("]PX^_k")
_TWO = frozenset("78DEHMc")
_THREE = frozenset(" #%()*+-./")
_FINALS = frozenset("ABCDEFGHJKLMPSTX@`abdefgmrsu")
_PRIVATE_MODES = frozenset({"1", "7", "25", "47", "1047", "1048", "1049", "2004"})
"""Arrow keys, wrapping, cursor, the other screen, marked pastes."""
_MODES = frozenset({"4"})
_QUERIES = frozenset({"5n", "6n", "c", "0c"})

_LINE_DRAWING = dict(
    zip(map(ord, "`afgjklmnopqrstuvwxyz{|}~"), "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True)
)


class SequenceFilter:
    """Takes bytes as they come, gives text; a character or sequence may be cut anywhere."""

    def __init__(self, *, answers: bool = False) -> None:
        """With ``answers``, the queries that an emulator can answer by itself stay in."""
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._answers = answers
        self._held = ""
        self._in_string = False
        self._drawing = False
        self._marks = 0

    def feed(self, data: bytes) -> str:
        """Return what of the bytes may be shown."""
        text = self._held + self._decode(data)
        self._held = ""
        found: list[str] = []
        at = 0
        while at < len(text):
            if self._in_string:
                at = self._skip_string(text, at)
                continue
            special = _SPECIAL.search(text, at)
            end = special.start() if special else len(text)
            if end > at:
                found.append(self._plain(text[at:end]))
            if special is None:
                break
            if text[end] == "\x1b":
                at = self._escape(text, end, found)
            else:
                found.append(_KEPT_CONTROLS.get(text[end], ""))
                at = end + 1
        return "".join(found)

    def _plain(self, text: str) -> str:
        if self._drawing:
            text = text.translate(_LINE_DRAWING)
        if text.isascii():
            self._marks = 0
            return text
        return "".join(map(self._character, text))

    def _character(self, char: str) -> str:
        if escape_terminal(char) != char:
            return " " * cell_width(char) if unicodedata.category(char) == "Zs" else ""
        if cell_width(char):
            self._marks = 0
            return char
        self._marks += 1
        return char if self._marks <= MAX_MARKS else ""

    def _skip_string(self, text: str, at: int) -> int:
        end = _END_OF_STRING.search(text, at)
        if end is None:
            self._held = "\x1b" if text.endswith("\x1b") else ""
            return len(text)
        self._in_string = False
        # An escape that is no terminator ends the string as well, and begins what it begins.
        return end.start() if end[0] == "\x1b" else end.end()

    def _escape(self, text: str, at: int, found: list[str]) -> int:
        """Add the sequence at ``at`` where it may stay; return where it ends."""
        kind = text[at + 1 : at + 2]
        if kind == "[":
            return self._control(text, at, found)
        if not kind or (kind in _THREE and len(text) == at + 2):
            self._held = text[at:]
            return len(text)
        if kind in _STRINGS:
            self._in_string = True
        elif kind in _THREE:
            self._drawing = text[at + 2] == "0" if kind == "(" else self._drawing
            return at + 3
        elif kind in _TWO:
            found.append(text[at : at + 2])
        elif _SPECIAL.match(kind) or not kind.isascii():
            return at + 1
        return at + 2

    def _control(self, text: str, at: int, found: list[str]) -> int:
        match = _CSI.match(text, at)
        if match is None:
            if _OPEN_CSI.match(text, at) and len(text) - at < MAX_SEQUENCE:
                self._held = text[at:]
                return len(text)
            return at + 2
        found.append(self._kept(match[1], match[2], match[3]))
        return match.end()

    def _kept(self, parameters: str, between: str, final: str) -> str:
        """Return the control sequence as it may stay, or nothing."""
        if between:
            return ""
        if final in "hl":
            return _modes(parameters, final)
        if self._answers and parameters + final in _QUERIES:
            return f"\x1b[{parameters}{final}"
        if final not in _FINALS or not re.fullmatch(r"[0-9;:]*", parameters):
            return ""
        if final == "m":
            parameters = ";".join(map(_rendition, parameters.split(";")))
        return f"\x1b[{parameters}{final}" if ":" not in parameters else ""


def _modes(parameters: str, final: str) -> str:
    private = parameters.startswith("?")
    known = _PRIVATE_MODES if private else _MODES
    kept = [mode for mode in parameters.removeprefix("?").split(";") if mode in known]
    return "".join(f"\x1b[{'?' * private}{mode}{final}" for mode in kept)


def _rendition(parameter: str) -> str:
    """Return one attribute in the old form, without colons."""
    first, *more = parameter.split(":")
    if not more:
        return parameter
    if first in {"38", "48"}:
        # The colour space, mostly empty, stands between the kind and three values.
        given = more[:1] + more[-3:] if more[0] == "2" else more
        return ";".join([first, *(value or "0" for value in given)])
    return "24" if first == "4" and more[0] == "0" else first
