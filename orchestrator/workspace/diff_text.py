"""Unified diffs of two contents, in the form that patch tools read. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.workspace.line_diff import Hunk, find_hunks, pair_digest, split_lines
from orchestrator.workspace.node import Change, Node


@dataclass(frozen=True, slots=True)
class Texts:
    """A change's contents as far as they are shown; None where there is no text to show."""

    old: bytes | None
    new: bytes | None
    why_not: str = ""
    """Why there is no text: ``binary`` or a size."""


def patch_lines(change: Change, texts: Texts, *, numbered: bool = False) -> Iterator[str]:
    """Yield the lines of one change's patch, without line ends.

    ``numbered`` puts a number before each hunk; then it is for reading, not for patch tools.
    """
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
    old, new = split_lines(texts.old), split_lines(texts.new)
    if old == new:
        return
    if numbered:
        yield f"hunks at {pair_digest(texts.old or b'', texts.new or b'')}"
    yield f"--- {_name('a', before, change.old)}"
    yield f"+++ {_name('b', after, change.new)}"
    for hunk in find_hunks(old, new):
        yield from hunk_lines(hunk, old, new, numbered=numbered)


def hunk_lines(
    hunk: Hunk, old: list[str], new: list[str], *, numbered: bool = False
) -> Iterator[str]:
    """Yield a hunk's header and lines."""
    yield f"{hunk.number}: {hunk.header}" if numbered else hunk.header
    for tag, old_from, old_to, new_from, new_to in hunk.operations:
        if tag == "equal":
            yield from _shown(" ", old[old_from:old_to])
        else:
            yield from _shown("-", old[old_from:old_to])
            yield from _shown("+", new[new_from:new_to])


def overlap_lines(change: Change) -> Iterator[str]:
    """Yield the places of a conflict that both sides changed, as conflict markers tell them."""
    for number, place in enumerate(change.overlaps, 1):
        yield f"conflict {number} of {len(change.overlaps)}, at line {place.line} of yours"
        yield "<<<<<<< yours (--ours)"
        yield from _shown("", list(place.ours))
        yield "======="
        yield from _shown("", list(place.theirs))
        yield ">>>>>>> the box's (--theirs)"


def count_lines(texts: Texts) -> tuple[int, int]:
    """Return how many lines were added and removed."""
    added = removed = 0
    for hunk in find_hunks(split_lines(texts.old), split_lines(texts.new)):
        for tag, old_from, old_to, new_from, new_to in hunk.operations:
            if tag != "equal":
                removed += old_to - old_from
                added += new_to - new_from
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


def _shown(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"
