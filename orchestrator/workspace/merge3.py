"""Merges two texts that began as one. Pure.

Lines that both sides left alone are the fixed points; between two of them whichever side changed
something wins, and where both did, differently, they overlap and a person decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from orchestrator.workspace.line_diff import find_operations, join_lines, split_lines

Favour = Literal["", "ours", "theirs"]
"""Which side wins where both changed the same lines: the host's, the box's, or neither."""

_Region = tuple[int, int, int, int, int, int]
"""Begin and end of the same lines in the base, in ours, in theirs."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """A place that both sides changed, each in its own way."""

    line: int
    """Where it begins in our text, from 1."""
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """The result; complete only where nothing overlaps or a side was favoured."""

    data: bytes
    overlaps: tuple[Overlap, ...]


def merge_texts(base: bytes, ours: bytes, theirs: bytes, *, favour: Favour = "") -> Merge:
    """Return both sides' changes in one text; overlaps hold the favoured side's lines, or ours."""
    lines = split_lines(base), split_lines(ours), split_lines(theirs)
    merged: list[str] = []
    overlaps: list[Overlap] = []
    at = (0, 0, 0)
    for region in _common(*lines):
        starts, ends = region[::2], region[1::2]
        was, our, their = (side[a:b] for side, a, b in zip(lines, at, starts, strict=True))
        merged += _between(was, our, their, favour)
        if len({tuple(was), tuple(our), tuple(their)}) == len(lines):
            overlaps.append(Overlap(at[1] + 1, tuple(our), tuple(their)))
        merged += lines[0][starts[0] : ends[0]]
        at = (ends[0], ends[1], ends[2])
    return Merge(join_lines(merged), tuple(overlaps))


def _between(was: list[str], our: list[str], their: list[str], favour: Favour) -> list[str]:
    if their in (was, our):
        return our
    if our == was or favour == "theirs":
        return their
    return our


def _common(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[_Region]:
    """Yield the runs of lines that all three have, and at last an empty one at the ends."""
    left, right = _equal(base, ours), _equal(base, theirs)
    i = j = 0
    while i < len(left) and j < len(right):
        begin = max(left[i][0], right[j][0])
        end = min(left[i][1], right[j][1])
        if begin < end:
            our, their = left[i][2] - left[i][0], right[j][2] - right[j][0]
            yield begin, end, begin + our, end + our, begin + their, end + their
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    yield len(base), len(base), len(ours), len(ours), len(theirs), len(theirs)


def _equal(base: list[str], side: list[str]) -> list[tuple[int, int, int]]:
    """Return begin and end in the base, and begin in the side, of each equal run."""
    return [(a, b, c) for tag, a, b, c, _ in find_operations(base, side) if tag == "equal"]
