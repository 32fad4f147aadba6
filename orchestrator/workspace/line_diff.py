"""Two texts compared line by line, cut into numbered hunks that can be taken one by one. Pure."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

_CONTEXT = 3
_MOST_LINES = 4000
"""Lines that are compared one by one; beyond, the changed region counts as replaced whole.

A box chooses the texts, and comparing is not linear.
"""

Operation = tuple[str, int, int, int, int]
"""A word of difflib with the lines it speaks of in both texts."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Some changed lines with what is around them."""

    number: int
    """From 1, in the order of the text."""
    operations: tuple[Operation, ...]

    @property
    def header(self) -> str:
        """The ranges, as patch tools know them."""
        first, last = self.operations[0], self.operations[-1]
        return f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"


def split_lines(data: bytes | None) -> list[str]:
    """Return the lines with their ends; bytes that are no UTF-8 survive the way back."""
    lines = (data or b"").decode("utf-8", "surrogateescape").split("\n")
    whole = [f"{line}\n" for line in lines[:-1]]
    return [*whole, lines[-1]] if lines[-1] else whole


def join_lines(lines: Iterable[str]) -> bytes:
    """Return the bytes that ``split_lines`` made lines of."""
    return "".join(lines).encode("utf-8", "surrogateescape")


def find_hunks(old: list[str], new: list[str]) -> list[Hunk]:
    """Return the hunks, with three lines of context."""
    groups = _grouped(find_operations(old, new))
    return [Hunk(number, tuple(group)) for number, group in enumerate(groups, 1)]


def take_hunks(old: list[str], new: list[str], numbers: Collection[int]) -> list[str]:
    """Return the old text with those of its hunks that are numbered."""
    taken: list[str] = []
    at = 0
    for hunk in find_hunks(old, new):
        if hunk.number in numbers:
            for tag, old_from, old_to, new_from, new_to in hunk.operations:
                taken += old[at:old_from]
                taken += old[old_from:old_to] if tag == "equal" else new[new_from:new_to]
                at = old_to
    return taken + old[at:]


def pair_digest(old: bytes, new: bytes) -> str:
    """Return a short text equal only for the same two contents: what hunk numbers hold for."""
    both = hashlib.sha256(len(old).to_bytes(8, "big"))
    both.update(old)
    both.update(new)
    return both.hexdigest()[:12]


def find_operations(old: list[str], new: list[str]) -> list[Operation]:
    """Return what turns one text into the other; only what differs is compared line by line."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    operations: list[Operation] = [("equal", 0, head, 0, head)] if head else []
    if max(len(middle_old), len(middle_new)) > _MOST_LINES:
        operations.append(("replace", head, len(old) - tail, head, len(new) - tail))
    else:
        matcher = difflib.SequenceMatcher(None, middle_old, middle_new)
        operations += [
            (tag, head + a, head + b, head + c, head + d)
            for tag, a, b, c, d in matcher.get_opcodes()
        ]
    if tail:
        operations.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return operations


def _range(start: int, stop: int) -> str:
    length = stop - start
    begin = start + 1 if length else start
    return str(begin) if length == 1 else f"{begin},{length}"


def _grouped(operations: list[Operation]) -> Iterator[list[Operation]]:
    """Cut long equal runs down to the context of what is around them."""
    group: list[Operation] = []
    for index, (tag, a, b, c, d) in enumerate(operations):
        if tag != "equal":
            group.append((tag, a, b, c, d))
            continue
        before = 0 if index == 0 else _CONTEXT
        after = 0 if index == len(operations) - 1 else _CONTEXT
        if b - a <= before + after:
            group.append((tag, a, b, c, d))
            continue
        if before:
            group.append((tag, a, a + before, c, c + before))
            yield group
        group = [(tag, b - after, b, d - after, d)] if after else []
    if any(tag != "equal" for tag, *_ in group):
        yield group
