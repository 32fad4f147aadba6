"""Brace expansion: ``a{b,c}d`` and ``{1..3}``, the first thing bash does to a word."""

from __future__ import annotations

import re
from itertools import pairwise

MAX_BRACE_WORDS = 256
"""More words than this from one word are not listed but reported as over the limit."""

_SEQUENCE = re.compile(
    r"(-?\d{1,12})\.\.(-?\d{1,12})(?:\.\.(-?\d{1,12}))?|([a-zA-Z])\.\.([a-zA-Z])"
)


class TooManyWordsError(ValueError):
    """Raised when one word expands to more than ``MAX_BRACE_WORDS``."""


def expand_braces(text: str) -> list[str]:
    """Return the words of ``text``; quoted braces must be shielded beforehand."""
    if "{" not in text:
        return [text]
    found = _first_group(text)
    if found is None:
        return [text]
    start, end, parts = found
    heads = text[:start]
    tails = expand_braces(text[end:])
    middles = [word for part in parts for word in expand_braces(part)]
    if len(middles) * len(tails) > MAX_BRACE_WORDS:
        raise TooManyWordsError(text)
    return [heads + middle + tail for middle in middles for tail in tails]


def _first_group(text: str) -> tuple[int, int, list[str]] | None:
    """Return start, end and alternatives of the first group that bash would expand."""
    start = text.find("{")
    while start >= 0:
        if text[start - 1 : start] != "$":
            end, parts = _alternatives(text, start)
            if end:
                return start, end, parts
        start = text.find("{", start + 1)
    return None


def _alternatives(text: str, start: int) -> tuple[int, list[str]]:
    depth = 0
    commas: list[int] = []
    for index in range(start, len(text)):
        char = text[index]
        if char == "{":
            depth += 1
        elif char == "," and depth == 1:
            commas.append(index)
        elif char == "}":
            depth -= 1
            if depth == 0:
                edges = [start, *commas, index]
                inner = [text[a + 1 : b] for a, b in pairwise(edges)]
                parts = inner if commas else _sequence(inner[0])
                return (index + 1, parts) if parts else (0, [])
    return 0, []


def _sequence(text: str) -> list[str]:
    match = _SEQUENCE.fullmatch(text)
    if match is None:
        return []
    if match[4]:
        first, last, step = ord(match[4]), ord(match[5]), 1
    else:
        first, last, step = int(match[1]), int(match[2]), abs(int(match[3] or 1)) or 1
    if abs(last - first) // step >= MAX_BRACE_WORDS:
        raise TooManyWordsError(text)
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    return [chr(number) if match[4] else str(number) for number in numbers]
