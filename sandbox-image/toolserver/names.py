r"""File names as text: one reversible escape, and the spellings people confuse.

A name is bytes; a model sees text. Printable UTF-8 stays as it is. A backslash is doubled; newline,
tab and return become ``\n \t \r``; other control characters and bytes that are not UTF-8 become
``\xHH``; other invisible characters (bidi marks, zero-width, unusual blanks) ``\uHHHH`` or
``\UHHHHHHHH``. Of a name that is not in composed form (NFC) every non-ASCII character is escaped,
since nobody can see the difference. ``raw_name`` takes every escape back.
"""

from __future__ import annotations

import re
import unicodedata

from refusal import Refusal

_ESCAPE = re.compile(r"\\(\\|n|t|r|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(\\)")
_SHORT = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_LETTERS = {"\\": b"\\", "n": b"\n", "t": b"\t", "r": b"\r"}
_CONFUSED = str.maketrans(
    dict.fromkeys("\u2018\u2019\u02bc", "'") | dict.fromkeys("\u201c\u201d", '"')
)


def shown_name(raw: bytes) -> str:
    """Return the name in printable form; ``raw_name`` gives the same bytes back."""
    text = raw.decode("utf-8", "surrogateescape")
    if _is_plain(text):
        return text
    composed = unicodedata.is_normalized("NFC", text)
    return "".join(_shown_character(character, composed) for character in text)


def shown_path(raw: bytes) -> str:
    """Return a path with every component escaped."""
    text = raw.decode("utf-8", "surrogateescape")
    if _is_plain(text):
        return text
    return "/".join(shown_name(part) for part in raw.split(b"/"))


def raw_name(shown: str) -> bytes:
    """Return the bytes a shown name or path stands for; a NUL or a malformed escape is refused."""
    if _is_plain(shown):
        return shown.encode()
    pieces: list[bytes] = []
    end = 0
    try:
        for match in _ESCAPE.finditer(shown):
            pieces += [shown[end : match.start()].encode(), _unescaped(match, shown)]
            end = match.end()
        raw = b"".join([*pieces, shown[end:].encode()])
    except UnicodeEncodeError:
        raise Refusal("invalid", f"path {shown!a}: not valid Unicode") from None
    if b"\0" in raw:
        raise Refusal("invalid", f"path {shown!a}: must not contain NUL")
    return raw


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and "\\" not in text


def folded_name(raw: bytes) -> str:
    """Return what two names share that a reader takes for the same."""
    text = unicodedata.normalize("NFC", raw.decode("utf-8", "surrogateescape"))
    spaced = "".join(" " if unicodedata.category(c) == "Zs" else c for c in text)
    return spaced.translate(_CONFUSED).casefold()


def has_controls(raw: bytes) -> bool:
    """Say whether a name holds control characters or bytes that are not UTF-8."""
    text = raw.decode("utf-8", "surrogateescape")
    return any(unicodedata.category(character) in {"Cc", "Cs"} for character in text)


def _shown_character(character: str, composed: bool) -> str:
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if character.isprintable() and (composed or character.isascii()):
        return character
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _unescaped(match: re.Match[str], shown: str) -> bytes:
    word = match[1]
    if word is None:
        raise Refusal(
            "invalid",
            f"path {shown!a}: a backslash in a name is written \\\\; "
            "escapes are \\n \\t \\r \\xHH \\uHHHH \\UHHHHHHHH, and folders are divided by /",
        )
    if word in _LETTERS:
        return _LETTERS[word]
    code = int(word[1:], 16)
    # Only what the escape itself writes: \x2f or \u002e would hide a path's shape.
    if 0x20 <= code < 0x7F or code > 0x10FFFF:
        raise Refusal("invalid", f"path {shown!a}: \\{word} is no escape that a file name needs")
    return bytes([code]) if word[0] == "x" else chr(code).encode()
