"""Entries of one session for another one: a branch (fork) or the whole tree (clone). Pure.

Entries keep their ids, so whatever names one still does; what names an entry that is left out is
led to its neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from orchestrator.schema.ids import EntryId
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.labels import labels_of
from orchestrator.sessions.tree import EntryTree

FORK = "fork"
"""The ``kind`` of the entry with which a copy's own part begins."""

LeaveOut = Callable[[Entry], bool]


def waits_for_answer(entry: Entry) -> bool:
    """Say whether an entry is about calls that wait for a person: they stay with their session."""
    return entry.type == "approval"


def forked(
    tree: EntryTree, leaf: EntryId | None, *, leave_out: LeaveOut = waits_for_answer
) -> tuple[Entry, ...]:
    """Return the branch up to ``leaf`` in the order of a file, then its entries' labels.

    ``leaf`` is a place that ``places`` gave, so that no call is cut off from its results.
    """
    path = tree.path(leaf) if leaf is not None else ()
    kept = _copied(path, lambda entry: entry.type in {"label", "leaf"} or leave_out(entry))
    return (*kept, *_labels(tree.entries, kept))


def cloned(tree: EntryTree, *, leave_out: LeaveOut = waits_for_answer) -> tuple[Entry, ...]:
    """Return all branches, with every move of the leaf."""
    kept = _copied(tree.entries, leave_out)
    there = {entry.id for entry in kept}
    path = tree.path() if tree.leaf is not None else ()
    wanted = next((entry.id for entry in reversed(path) if entry.id in there), None)
    if not kept or EntryTree(kept).leaf == wanted:
        return kept
    # What was left out had moved the leaf, by being added: its id is free for the move.
    move_id = next(entry.id for entry in reversed(tree.entries) if entry.id not in there)
    move = Entry(move_id, kept[-1].id, "leaf", kept[-1].time, {"target": wanted})
    return (*kept, move)


def own_entries(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return what a copy has written itself; all of it for a session that is no copy."""
    for at in range(len(entries) - 1, -1, -1):
        entry = entries[at]
        if entry.type == "custom" and entry.body.get("kind") == FORK:
            return entries[at + 1 :]
    return entries


def _copied(entries: Sequence[Entry], leave_out: LeaveOut) -> tuple[Entry, ...]:
    by_id = {entry.id: entry for entry in entries}
    instead: dict[EntryId, EntryId | None] = {}
    kept: dict[EntryId, Entry] = {}
    for entry in entries:
        parent = instead.get(entry.parent, entry.parent) if entry.parent is not None else None
        body = None if leave_out(entry) else _led(entry, by_id, kept, instead)
        if body is None:
            instead[entry.id] = parent
        else:
            kept[entry.id] = replace(entry, parent=parent, body=body)
    return tuple(kept.values())


def _led(
    entry: Entry,
    by_id: Mapping[EntryId, Entry],
    kept: Mapping[EntryId, Entry],
    instead: Mapping[EntryId, EntryId | None],
) -> Mapping[str, Any] | None:
    """Return the body with ids that are there; None where nothing of it would hold any more."""
    body = entry.body
    if entry.type in {"label", "context_edit"}:
        return body if body.get("target") in kept else None
    if entry.type == "leaf":
        target = body.get("target")
        return {**body, "target": instead.get(target, target)} if target else body
    if entry.type == "compaction" and body.get("first_kept") not in kept:
        return {**body, "first_kept": _next_kept(entry, by_id, kept)}
    if body.get("from") and entry.type != "message" and body["from"] not in kept:
        return {**body, "from": None}
    return body


def _next_kept(
    compaction: Entry, by_id: Mapping[EntryId, Entry], kept: Mapping[EntryId, Entry]
) -> EntryId | None:
    """Return the first entry that is there at or after the compaction's boundary."""
    boundary, found, at = compaction.body.get("first_kept"), None, compaction.parent
    if boundary not in by_id:
        # None was kept, or one that is lost: the copy knows no more than its origin.
        return boundary
    while at is not None:
        found = at if at in kept else found
        if at == boundary:
            return found
        at = by_id[at].parent
    return None


def _labels(entries: Iterable[Entry], kept: Sequence[Entry]) -> list[Entry]:
    """Return the newest label of each entry that was kept, one below the other."""
    everything = list(entries)
    ids = {entry.id for entry in kept}
    wanted = {target: label for target, label in labels_of(everything).items() if target in ids}
    newest = {
        EntryId(entry.body["target"]): entry
        for entry in everything
        if entry.type == "label" and entry.body.get("target") in wanted
    }
    parent = kept[-1].id if kept else None
    placed = []
    for entry in newest.values():
        placed.append(replace(entry, parent=parent))
        parent = entry.id
    return placed
