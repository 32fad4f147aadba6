"""What ``${x#a}``, ``${x:1:2}``, ``${x/a/b}``, ``${x^^}`` and their kin make of a known value. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

_CHANGE = re.compile(
    r"(?P<cut>##?|%%?)(?P<edge>.*)"
    r"|:\s*(?P<start>-?\d+)\s*(?::\s*(?P<length>-?\d+)\s*)?"
    r"|(?P<swap>//?[#%]?)(?P<old>[^/]+)(?:/(?P<new>.*))?"
    r"|(?P<case>\^\^?|,,?|~~?)"
    r"|@(?P<as>[QEPULu])",
    re.DOTALL,
)
_MAX_GROWTH = 100_000
"""Characters that replacing may add."""

_LITERAL = re.compile(r"[^\\*?\[\]$`'\"{}!+@()\ufffc]*")
_CASES: dict[str, Callable[[str], str]] = {
    "^": lambda text: text[:1].upper() + text[1:],
    "^^": str.upper,
    ",": lambda text: text[:1].lower() + text[1:],
    ",,": str.lower,
    "~": lambda text: text[:1].swapcase() + text[1:],
    "~~": str.swapcase,
}
_FORMS: dict[str, Callable[[str], str]] = {"U": str.upper, "L": str.lower, "u": _CASES["^"]}


def change(value: str, operation: str) -> str | None:
    """Return the changed value; None where the operation's patterns are more than plain text."""
    match = _CHANGE.fullmatch(operation)
    if match is None:
        return None
    literals = (match["edge"], match["old"], match["new"])
    if not all(_LITERAL.fullmatch(text or "") for text in literals):
        return None
    if match["cut"]:
        cut = str.removeprefix if match["cut"][0] == "#" else str.removesuffix
        return cut(value, match["edge"])
    if match["start"]:
        return _slice(value, int(match["start"]), match["length"])
    if match["swap"]:
        if value.count(match["old"]) * len(match["new"] or "") > _MAX_GROWTH:
            return None
        return _swap(value, match["swap"], (match["old"], match["new"] or ""))
    if match["case"]:
        return _CASES[match["case"]](value)
    made = _FORMS.get(match["as"])
    return made(value) if made is not None else None


def _slice(value: str, start: int, length: str | None) -> str:
    if length is None:
        return value[start:]
    begin = start if start >= 0 else max(0, len(value) + start)
    count = int(length)
    return value[begin:count] if count < 0 else value[begin : begin + count]


def _swap(value: str, kind: str, texts: tuple[str, str]) -> str:
    old, new = texts
    if kind.endswith("#"):
        return new + value.removeprefix(old) if value.startswith(old) else value
    if kind.endswith("%"):
        return value.removesuffix(old) + new if value.endswith(old) else value
    return value.replace(old, new) if kind == "//" else value.replace(old, new, 1)
