r"""Escapes of bash's quoting forms, undone: ``$'…'``, double quotes, bare backslashes.

While a word is being expanded, characters that lost their meaning by quoting are kept apart from
their live twins: ``shield`` moves them into a private plane, ``unshield`` brings them back.
"""

from __future__ import annotations

import re

DYNAMIC = "\ufffc"
"""Stands in a word's shape for text that is only known when the command runs."""

BREAK = "\U000f0020"
"""Stands between the words that an unquoted expansion falls apart into."""

EMPTY = "\U000f0000"
"""Stands for ``"$@"`` without arguments, which is no word at all, not an empty one."""

_PLANE = 0xF0000
_LIVE = "{},*?[]~=:!+@()$"
_SHIELD = {ord(char): chr(_PLANE + ord(char)) for char in _LIVE}
_UNSHIELD = {_PLANE + ord(char): char for char in _LIVE} | {ord(EMPTY): ""}
_ANSI_SIMPLE = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r",
    "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_DOUBLE = re.compile(r'\\([$`"\\])')
_BARE = re.compile(r"\\(.)", re.DOTALL)
_LAST_CODE_POINT = 0x10FFFF


def shield(text: str) -> str:
    """Return ``text`` with every character that an unquoted word would act on made inert."""
    return text.translate(_SHIELD)


def unshield(text: str) -> str:
    """Return the text that the program would receive."""
    return text.translate(_UNSHIELD)


def undo_ansi(text: str) -> str:
    r"""Decode the inside of ``$'…'``; a NUL ends it, as in bash."""
    return _ANSI.sub(_ansi_char, text).split("\0", 1)[0]


def _ansi_char(match: re.Match[str]) -> str:
    byte, short, long, octal, control, simple = match.groups()
    if control is not None:
        return chr(ord(control) & 0x1F)
    if simple is not None:
        return _ANSI_SIMPLE.get(simple, "\\" + simple)
    if octal is not None:
        return chr(int(octal, 8) & 0xFF)
    code = int(byte or short or long, 16)
    return chr(code) if code <= _LAST_CODE_POINT else DYNAMIC


def undo_double(text: str) -> str:
    """Undo backslashes inside double quotes; all others stay."""
    return _DOUBLE.sub(r"\1", text) if "\\" in text else text


def undo_heredoc(text: str) -> str:
    """Undo backslashes of an expanding heredoc body, where a double quote is plain text."""
    return re.sub(r"\\([$`\\])", r"\1", text) if "\\" in text else text


def undo_bare(text: str) -> str:
    """Undo backslashes of an unquoted word; what they protected comes out inert."""
    if "\\" not in text:
        return text
    return _BARE.sub(lambda match: shield(match[1]), text)
