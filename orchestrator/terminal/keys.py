"""What a person types, as the program in the box is to get it; one key leaves."""

from __future__ import annotations

import re

from orchestrator.errors import UsageError

DETACH = "ctrl-]"
_PASTE, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
_ARROWS = re.compile(rb"\x1b\[([ABCDHF])")
_NAME = re.compile(r"(?i)ctrl-([a-z@\[\\\]^_])")
_NEEDED = frozenset({"c", "d", "i", "j", "m", "[", "z"})
"""Ctrl with these is a key that programs need, or another key's name."""


def parse_key(name: str) -> bytes:
    r"""Return the byte of a key such as ``ctrl-]`` or ``ctrl-\``; UsageError for another."""
    match = _NAME.fullmatch(name)
    if match is None or match[1].lower() in _NEEDED:
        raise UsageError(
            f"--detach-key {name!a}: expected ctrl- with a letter or one of @ \\ ] ^ _, and none "
            "that programs need (c d i j m z)",
            hint="the default is ctrl-]",
        )
    return bytes([ord(match[1].upper()) & 0x1F])


class Keys:
    """Takes what the keyboard sends, in pieces; pastes are marked only for who asked for it."""

    def __init__(self, detach: bytes) -> None:
        """``detach`` is the one byte that leaves; within a paste it is text."""
        self._detach = detach
        self._pasting = False
        self._held = b""

    def feed(self, data: bytes, *, application: bool, marked: bool) -> tuple[bytes, bool]:
        """Return what goes to the program, and whether the person left after it.

        ``application`` and ``marked`` say which forms of arrow keys and pastes the program wants.
        """
        data, self._held = self._held + data, b""
        out = b""
        while data:
            mark = _PASTE_END if self._pasting else _PASTE
            before, found, rest = data.partition(mark)
            if not found:
                before, self._held = _without_half(before, mark, 1 if self._pasting else 3)
            if not self._pasting:
                typed, left, _ = before.partition(self._detach)
                out += _ARROWS.sub(b"\x1bO\\1", typed) if application else typed
                if left:
                    return out, True
            else:
                out += before
            if not found:
                break
            self._pasting = not self._pasting
            out += mark if marked else b""
            data = rest
        return out, False


def _without_half(data: bytes, mark: bytes, least: int) -> tuple[bytes, bytes]:
    """Return the data and the beginning of a mark at its end; Esc and Esc [ alone may be keys."""
    for size in range(len(mark) - 1, least - 1, -1):
        if data.endswith(mark[:size]):
            return data[:-size], data[-size:]
    return data, b""
