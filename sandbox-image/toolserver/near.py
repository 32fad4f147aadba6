"""The text an edit most likely meant: found to be reported, never to be written."""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import NamedTuple

MAX_BYTES = 1024**2
"""Content searched; beyond it an edit that fails says only that it failed."""

MAX_COMPARED = 5000
"""Lines compared by likeness, a few tens of milliseconds."""

MAX_RATIOS = 60
"""Full comparisons made, the costly part: a table of like lines would take seconds."""

MAX_LINE = 300
"""Characters of a line that are compared."""

MAX_SHOWN = 600
"""Characters of the candidate that are shown."""

LIKENESS = 0.6
"""How alike two lines must be (difflib's ratio) to be worth showing."""

_BLANKS = re.compile(r"[^\S\n]+")
_MARKS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
)


class Candidate(NamedTuple):
    """A passage that resembles the text an edit looked for."""

    line: int
    """1-based line where it begins."""
    text: str
    """The passage as it is in the file, perhaps cut."""
    difference: str
    """What keeps it from matching, in words."""


def nearest(content: bytes, old: bytes) -> Candidate | None:
    """Return the passage most like ``old``; None when nothing comes close."""
    if len(content) > MAX_BYTES:
        return None
    lines = content.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    wanted = old.decode("utf-8", "replace").replace("\r\n", "\n")
    return _same_but_for_looks(lines, wanted) or _most_alike(lines, wanted)


def _same_but_for_looks(lines: list[str], wanted: str) -> Candidate | None:
    needle = "\n".join(_folded(line) for line in wanted.split("\n")).strip("\n")
    if not needle:
        return None
    haystack = "\n".join(_folded(line) for line in lines)
    position = haystack.find(needle)
    if position < 0:
        return None
    line = haystack.count("\n", 0, position)
    count = needle.count("\n") + 1
    passage = "\n".join(lines[line : line + count])
    blanks = _squeezed(wanted) in _squeezed(passage)
    difference = "whitespace" if blanks else "quotes, dashes, accents or whitespace"
    return Candidate(line + 1, _bounded(passage), f"differs only in {difference}")


def _most_alike(lines: list[str], wanted: str) -> Candidate | None:
    """Find the line most like the longest wanted one, and show what stands around it."""
    sought = wanted.strip("\n").split("\n")
    anchor = max(range(len(sought)), key=lambda index: len(sought[index].strip()))
    target = sought[anchor].strip()[:MAX_LINE]
    if not target:
        return None
    found = _closest(lines, target)
    if found is None:
        return None
    start = max(0, found - anchor)
    passage = "\n".join(lines[start : start + len(sought)])
    return Candidate(start + 1, _bounded(passage), "is the most alike")


def _closest(lines: list[str], target: str) -> int | None:
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(target)
    best, best_ratio, left = None, LIKENESS, MAX_RATIOS
    for index, line in enumerate(lines[:MAX_COMPARED]):
        matcher.set_seq1(line.strip()[:MAX_LINE])
        if matcher.real_quick_ratio() < best_ratio or matcher.quick_ratio() < best_ratio:
            continue
        left -= 1
        if left < 0:
            break
        ratio = matcher.ratio()
        if ratio > best_ratio:
            best, best_ratio = index, ratio
    return best


def _folded(line: str) -> str:
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", line).translate(_MARKS)).strip()


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _bounded(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + " ..."
