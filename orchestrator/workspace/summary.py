"""Puts a change set into words for a terminal: every name escaped, dangers after the list. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized

from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.folding import MOST_FLAGGED, MOST_LISTED, Heap, flagged, fold
from orchestrator.workspace.node import PERMISSIONS, Change, ChangeSet, Node
from orchestrator.workspace.plan import IGNORED, Left

_MOST_PLACES = 12

Counts = Mapping[str, tuple[int, int]]
"""Added and removed lines by path."""

_PROTECTED = "protected, applied only with --include-protected:"

_SECTIONS: tuple[tuple[str, Callable[[Change], str]], ...] = (
    ("runs on your machine:", lambda change: change.runs_on_host),
    (
        _PROTECTED,
        lambda change: "policy protects it" if change.protected else "",
    ),
    ("refused, never applied:", lambda change: change.refused),
    ("conflicts with your directory:", lambda change: change.conflict),
    ("your directory moved on, and both go together:", lambda change: change.merged),
    ("applied differently:", lambda change: "; ".join(change.notes)),
)


def summary_lines(changes: ChangeSet, counts: Counts, *, everything: bool = False) -> Iterator[str]:
    """Yield the list of changes, then what a person must know before a yes.

    Long lists are folded, unless ``everything`` is to be named.
    """
    shown = [c for c in changes.changes if not c.renamed_to and not c.ignored]
    if not shown:
        yield "no files changed"
    rows = fold(shown, most=len(shown) if everything else MOST_LISTED)
    for row in rows:
        yield change_line(row, counts) if isinstance(row, Change) else _heap_line(row)
    folded = len(rows) < len(shown)
    for title, reason in _SECTIONS:
        found = [(_names(c), escape_terminal(reason(c))) for c in shown if reason(c)]
        if found:
            yield title
            yield from flagged(found, most=_most(found, everything), line="  {}: {}".format)
        folded = folded or len(found) > _most(found, everything)
    yield from _ignored_lines([change for change in changes.changes if change.ignored])
    if changes.inside_git:
        yield (
            f".git: {changes.inside_git} files changed inside .git (commits, index); "
            "they stay in the box"
        )
    yield from note_lines(changes, everything=everything)
    if folded:
        yield (
            f"{len(shown)} changes, long lists are folded; every name: "
            f"glovebox diff --stat --all {changes.session}"
        )


def _most(found: Sized, everything: bool) -> int:
    return len(found) if everything else MOST_FLAGGED


def _heap_line(heap: Heap) -> str:
    kinds = Counter(_word(change) for change in heap.changes)
    words = ", ".join(f"{count} {word}" for word, count in kinds.most_common())
    name = f"{escape_terminal(heap.directory)}/" if heap.directory else "./"
    where = "other places" if heap.others else f"{name}*" if heap.only_here else name
    return f"  {len(heap.changes):<9} {where}  ({words})"


def note_lines(changes: ChangeSet, *, everything: bool = False) -> Iterator[str]:
    """Yield what a person must know even where nothing changed or nobody is asked."""
    most = _most(changes.notes, everything)
    yield from (f"note: {escape_terminal(note)}" for note in changes.notes[:most])
    if len(changes.notes) > most:
        yield f"note: … and {len(changes.notes) - most} more"


def effect_lines(applied: Iterable[Change], *, everything: bool = False) -> Iterator[str]:
    """Yield which of the changes that are on the host now run there."""
    found = [(_names(c), escape_terminal(c.runs_on_host)) for c in applied if c.runs_on_host]
    line = "  runs on your machine: {}: {}".format
    yield from flagged(found, most=_most(found, everything), line=line)


def _ignored_lines(ignored: list[Change]) -> Iterator[str]:
    """Yield how much of it there is by place, and nothing of what only makes the list long."""
    if not ignored:
        return
    yield f"ignored by git, applied only with --ignored: {len(ignored)} changes"
    places = Counter(change.path.partition("/")[0] for change in ignored)
    inside = {change.path.partition("/")[0] for change in ignored if "/" in change.path}
    for name, count in places.most_common(_MOST_PLACES):
        shown = escape_terminal(name)
        yield f"  {shown}/  ({count} changes)" if name in inside else f"  {shown}"
    if len(places) > _MOST_PLACES:
        yield f"  and {len(places) - _MOST_PLACES} other places"
    running = sum(bool(change.runs_on_host) for change in ignored)
    if running:
        yield f"  {running} of them run on your machine or settle what does"


def change_line(change: Change, counts: Counts | None = None) -> str:
    """Return one change in a line."""
    return f"  {_word(change):9} {_names(change)}{_detail(change, counts or {})}"


def warning_lines(change: Change) -> Iterator[str]:
    """Yield what a person must know of one change; who asks about each says what is protected."""
    for title, reason in _SECTIONS:
        if title != _PROTECTED and (why := reason(change)):
            yield f"  {title} {escape_terminal(why)}"


def left_lines(left: Iterable[Left], *, everything: bool = False) -> Iterator[str]:
    """Yield what stayed in the box, each with its reason; what git ignores is only counted."""
    given = list(left)
    found = [
        (escape_terminal(item.path), escape_terminal(item.reason))
        for item in given
        if item.reason != IGNORED
    ]
    line = "  not applied: {}: {}".format
    yield from flagged(found, most=_most(found, everything), line=line)
    if ignored := len(given) - len(found):
        yield f"  not applied: {ignored} changes that git ignores; --ignored applies them too"


def _word(change: Change) -> str:
    if change.renamed_from:
        return "renamed"
    return {"type": "retyped"}.get(change.kind, change.kind)


def _names(change: Change) -> str:
    path = escape_terminal(change.path)
    kind = (change.new or change.old or Node("file", 0)).type
    if kind == "directory":
        path += "/"
    if change.renamed_from:
        return f"{escape_terminal(change.renamed_from)} -> {path}"
    if change.new is not None and change.new.type == "symlink":
        return f"{path} -> {escape_terminal(change.new.target)}"
    return path


def _detail(change: Change, counts: Counts) -> str:
    parts = []
    if change.path in counts and any(counts[change.path]):
        added, removed = counts[change.path]
        parts.append(f"+{added} -{removed}")
    elif change.new is not None and change.new.binary:
        parts.append(f"binary, {change.new.size} bytes")
    old, new = change.old, change.new
    if old is not None and new is not None and old.type != new.type:
        parts.append(f"{old.type} -> {new.type}")
    elif old is not None and new is not None and (old.mode ^ new.mode) & PERMISSIONS:
        parts.append(f"{old.mode & PERMISSIONS:04o} -> {new.mode & PERMISSIONS:04o}")
    return f"  ({', '.join(parts)})" if parts else ""
