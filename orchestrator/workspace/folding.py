"""Makes long lists of changes short: heaps of them by directory, flagged ones by reason. Pure.

What is rare is named first, so that a heap hides neither a change of one's own nor the one danger
among many.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from orchestrator.workspace.node import Change

MOST_LISTED = 200
"""Lines of a list of changes: what a person may still read."""

MOST_FLAGGED = 60
"""Lines under one heading of dangers."""

_EXAMPLES = 3
_PLACES = 20
"""Directories named of a top that has too many."""


@dataclass(frozen=True, slots=True)
class Heap:
    """Changes that are told as a number."""

    directory: str
    """``""`` for the top."""
    changes: tuple[Change, ...]
    only_here: bool = False
    """Without those in directories below it, which are told apart."""
    others: bool = False
    """What is left of the directory, after some of it was told apart."""


def fold(changes: Sequence[Change], *, most: int) -> list[Change | Heap]:
    """Return all changes, or where they are more than ``most`` rows, heaps in place of many.

    Small directories are spelled out before large ones, so that what is beside a heap is named.
    """
    if len(changes) <= most:
        return list(changes)
    top = _plant(changes)
    waiting = [(top.count, "", top)]
    rows: list[Change | Heap] = []
    lines = 1
    while waiting:
        _, path, place = heapq.heappop(waiting)
        heap_here = bool(place.own) and lines + place.width - 1 > most
        width = len(place.below) + (1 if heap_here else len(place.own))
        if lines + width - 1 > most:
            rows += _top_heaps(place) if not path else [Heap(path, place.everything())]
            continue
        lines += width - 1
        alone = Heap(path, tuple(place.own), only_here=bool(place.below))
        rows += [alone] if heap_here else place.own
        for name, below in place.below.items():
            deeper = f"{path}/{name}" if path else name
            heapq.heappush(waiting, (below.count, deeper, below))
    return sorted(rows, key=_rank)


def _rank(row: Change | Heap) -> tuple[bool, str]:
    if isinstance(row, Change):
        return False, row.path
    return row.others, row.directory


def flagged(
    found: Sequence[tuple[str, str]], *, most: int, line: Callable[[str, str], str]
) -> Iterator[str]:
    """Yield a line for each pair of name and reason, or of too many some for each reason.

    The rarest reasons come first. Names and reasons are safe to show.
    """
    if len(found) <= most:
        yield from (line(name, reason) for name, reason in found)
        return
    names = defaultdict(list)
    for name, reason in found:
        names[reason].append(name)
    left, room = len(found), most
    for reason, members in sorted(names.items(), key=lambda item: (len(item[1]), item[0])):
        shown = members if len(members) <= _EXAMPLES + 1 else members[:_EXAMPLES]
        if len(shown) + 1 > room:
            break
        yield from (line(name, reason) for name in shown)
        left -= len(members)
        room -= len(shown)
        if len(shown) < len(members):
            yield line(f"… and {_places(members[len(shown) :])}", reason)
            room -= 1
    if left:
        yield f"  … and {left} more, for other reasons"


def _places(names: Sequence[str]) -> str:
    """Return how many names there are, and where most of them are."""
    tops = Counter(f"{name.partition('/')[0]}/" if "/" in name else "./" for name in names)
    shown = tops.most_common(_EXAMPLES)
    words = [f"{count} in {top}" for top, count in shown]
    rest = len(names) - sum(count for _, count in shown)
    return f"{len(names)} more ({', '.join([*words, *([f'{rest} elsewhere'] if rest else [])])})"


@dataclass(slots=True)
class _Place:
    own: list[Change] = field(default_factory=list)
    below: dict[str, _Place] = field(default_factory=dict)
    count: int = 0

    @property
    def width(self) -> int:
        return len(self.own) + len(self.below)

    def everything(self) -> tuple[Change, ...]:
        found, waiting = list(self.own), list(self.below.values())
        while waiting:
            place = waiting.pop()
            found += place.own
            waiting += place.below.values()
        return tuple(found)


def _plant(changes: Sequence[Change]) -> _Place:
    top = _Place()
    for change in changes:
        place = top
        place.count += 1
        for part in change.path.split("/")[:-1]:
            place = place.below.setdefault(part, _Place())
            place.count += 1
        place.own.append(change)
    return top


def _top_heaps(top: _Place) -> list[Change | Heap]:
    """Return the largest directories of a top that has too many, and the rest as one."""
    named = sorted(top.below, key=lambda name: -top.below[name].count)[:_PLACES]
    rest = [*top.own]
    for name, place in top.below.items():
        if name not in named:
            rest += place.everything()
    heaps = [Heap(name, top.below[name].everything()) for name in named]
    return [*heaps, *([Heap("", tuple(rest), others=True)] if rest else [])]
