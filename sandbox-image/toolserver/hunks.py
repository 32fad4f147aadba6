"""A unified diff for people, from changes that are known; bounded in size and in time."""

from __future__ import annotations

import difflib
import itertools
import operator
from collections.abc import Iterable, Sequence
from typing import NamedTuple

CONTEXT = 3
"""Unchanged lines around a change."""

MAX_LINES = 400
"""Diff lines shown; the rest is counted."""

MAX_WIDTH = 500
"""Characters shown of one line."""

MAX_COMPARED = 250_000
"""Pairs of lines compared; a larger rewrite is shown as one block, so that no diff takes long."""


class Change(NamedTuple):
    """Lines ``start`` to ``stop`` (0-based, half open) of the old text become ``new``."""

    start: int
    stop: int
    new: tuple[bytes, ...]


def split_lines(content: bytes) -> list[bytes]:
    """Return the lines; each keeps its newline, so a missing last one can be told."""
    if b"\r" not in content:
        return content.splitlines(keepends=True)
    # Bytes know a lone return as an end of line, too.
    *whole, last = content.split(b"\n")
    lines = [line + b"\n" for line in whole]
    return [*lines, last] if last else lines


def compare(old: Sequence[bytes], new: Sequence[bytes]) -> list[Change]:
    """Return the changes that turn one text into the other."""
    shorter = min(len(old), len(new))
    head = _alike(old, new, shorter)
    tail = _alike(reversed(old), reversed(new), shorter - head)
    before, after = old[head : len(old) - tail], new[head : len(new) - tail]
    if not before and not after:
        return []
    if not before or not after or len(before) * len(after) > MAX_COMPARED:
        return [Change(head, head + len(before), tuple(after))]
    matcher = difflib.SequenceMatcher(None, before, after)
    return [
        Change(head + a, head + b, tuple(after[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def _alike(left: Iterable[bytes], right: Iterable[bytes], most: int) -> int:
    """Return how many of the first lines are the same, up to ``most``."""
    differ = map(operator.ne, left, right)
    return next(itertools.compress(range(most), differ), most)


def unified(path: str, old: Sequence[bytes], changes: Sequence[Change]) -> str:
    """Return the unified diff of sorted, disjoint changes."""
    lines: list[str] = []
    shift = 0
    for group in _groups(changes):
        start = max(0, group[0].start - CONTEXT)
        stop = min(len(old), group[-1].stop + CONTEXT)
        body = _body(old, group, start=start, stop=stop)
        grown = sum(len(change.new) - (change.stop - change.start) for change in group)
        length = stop - start
        lines.append(f"@@ -{_span(start, length)} +{_span(start + shift, length + grown)} @@")
        lines += body
        shift += grown
    if not lines:
        return ""
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"... {len(lines) - MAX_LINES} more diff lines"]
    return "\n".join([f"--- {path}", f"+++ {path}", *lines]) + "\n"


def _groups(changes: Sequence[Change]) -> list[list[Change]]:
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change.start - groups[-1][-1].stop <= 2 * CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _body(old: Sequence[bytes], group: list[Change], *, start: int, stop: int) -> list[str]:
    lines: list[str] = []
    position = start
    for change in group:
        lines += _marked(" ", old[position : change.start])
        lines += _marked("-", old[change.start : change.stop])
        lines += _marked("+", change.new)
        position = change.stop
    return lines + _marked(" ", old[position:stop])


def _marked(mark: str, lines: Sequence[bytes]) -> list[str]:
    marked = []
    for raw in lines:
        # A return is shown: lines that differ in nothing else would look the same.
        line = raw.removesuffix(b"\n").decode("utf-8", "replace").replace("\r", "\u240d")
        marked.append(mark + (line if len(line) <= MAX_WIDTH else line[:MAX_WIDTH] + " ..."))
        if not raw.endswith(b"\n"):
            marked.append("\\ No newline at end of file")
    return marked


def _span(start: int, length: int) -> str:
    return f"{start + 1 if length else start},{length}"
