"""Unified diffs of two contents, in the form that patch tools read. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.workspace.node import Change, Node

_CONTEXT = 3
_MOST_LINES = 4000
"""Lines that are compared one by one; beyond, the changed region is shown as replaced whole.

A box chooses both texts, and comparing is not linear.
"""


_Operation = tuple[str, int, int, int, int]
"""A word of difflib with the lines it speaks of in both texts."""


@dataclass(frozen=True, slots=True)
class Texts:
    """A change's contents as far as they are shown; None where there is no text to show."""

    old: bytes | None
    new: bytes | None
    why_not: str = ""
    """Why there is no text: ``binary`` or a size."""


def patch_lines(change: Change, texts: Texts) -> Iterator[str]:
    """Yield the lines of one change's patch, without line ends."""
    before, after = change.renamed_from or change.path, change.path
    yield f"diff --git a/{before} b/{after}"
    yield from _header(change)
    if change.renamed_from:
        yield "similarity index 100%"
        yield f"rename from {before}"
        yield f"rename to {after}"
        return
    if texts.why_not:
        yield f"{_name('a', before, change.old)} and {_name('b', after, change.new)} differ: " + (
            texts.why_not
        )
        return
    old, new = _split(texts.old), _split(texts.new)
    if old == new:
        return
    yield f"--- {_name('a', before, change.old)}"
    yield f"+++ {_name('b', after, change.new)}"
    yield from _hunks(old, new)


def count_lines(texts: Texts) -> tuple[int, int]:
    """Return how many lines were added and removed."""
    added = removed = 0
    for line in _hunks(_split(texts.old), _split(texts.new)):
        added += line.startswith("+")
        removed += line.startswith("-")
    return added, removed


def _header(change: Change) -> Iterator[str]:
    if change.old is None and change.new is not None:
        yield f"new file mode {_mode(change.new)}"
    elif change.new is None and change.old is not None:
        yield f"deleted file mode {_mode(change.old)}"
    elif (
        change.old is not None and change.new is not None and _mode(change.old) != _mode(change.new)
    ):
        yield f"old mode {_mode(change.old)}"
        yield f"new mode {_mode(change.new)}"


def _mode(node: Node) -> str:
    kinds = {"file": "100", "symlink": "120", "directory": "040"}
    permissions = 0 if node.type == "symlink" else node.mode
    return f"{kinds.get(node.type, '000')}{permissions & 0o777:03o}"


def _name(side: str, path: str, node: Node | None) -> str:
    return f"{side}/{path}" if node is not None else "/dev/null"


def _split(data: bytes | None) -> list[str]:
    """Return the lines with their ends; bytes that are no UTF-8 survive the way back."""
    lines = (data or b"").decode("utf-8", "surrogateescape").split("\n")
    whole = [f"{line}\n" for line in lines[:-1]]
    return [*whole, lines[-1]] if lines[-1] else whole


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """Yield hunks with three lines of context."""
    for group in _grouped(_operations(old, new)):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                yield from _shown(" ", old[old_from:old_to])
            else:
                yield from _shown("-", old[old_from:old_to])
                yield from _shown("+", new[new_from:new_to])


def _shown(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _range(start: int, stop: int) -> str:
    length = stop - start
    begin = start + 1 if length else start
    return str(begin) if length == 1 else f"{begin},{length}"


def _operations(old: list[str], new: list[str]) -> list[_Operation]:
    """Return what turns one text into the other; only what differs is compared line by line."""
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    operations: list[_Operation] = [("equal", 0, head, 0, head)] if head else []
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


def _grouped(operations: list[_Operation]) -> Iterator[list[_Operation]]:
    """Cut long equal runs down to the context of what is around them."""
    group: list[_Operation] = []
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
