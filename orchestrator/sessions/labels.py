"""Names that a person gives to entries, to find them again."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.errors import UsageError
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.store import SessionStore

LONGEST = 100
"""Characters of a label."""


def labels_of(entries: Iterable[Entry]) -> dict[EntryId, str]:
    """Return the label of each entry that has one; the newest in the file holds, on any branch."""
    found: dict[EntryId, str] = {}
    for entry in entries:
        if entry.type != "label":
            continue
        target, label = entry.body.get("target"), entry.body.get("label")
        if isinstance(target, str) and isinstance(label, str) and label:
            found[EntryId(target)] = label
        elif isinstance(target, str):
            found.pop(EntryId(target), None)
    return found


def set_label(store: SessionStore, target: EntryId, label: str | None) -> None:
    """Name an entry, or take its name away; on disk on return.

    Raises UsageError for an entry that is not there or has no name to be taken away, and for a label
    that is taken, empty, of several lines or longer than ``LONGEST``.
    """
    if target not in store.tree.by_id:
        raise UsageError(f"entry {target!r}: there is none in this session")
    if label is None and target not in labels_of(store.tree.entries):
        raise UsageError(f"entry {target}: it has no name that could be taken away")
    if label is not None:
        label = _checked(label)
        taken = [other for other, name in labels_of(store.tree.entries).items() if name == label]
        if taken and taken != [target]:
            raise UsageError(
                f"label {label!r}: entry {taken[0]} has it already",
                hint="take it away there first, or choose another",
            )
    store.append("label", {"target": target, "label": label})
    store.sync()


def _checked(label: str) -> str:
    word = label.strip()
    if not word or len(word) > LONGEST or not word.isprintable():
        raise UsageError(
            f"label: expected one line of 1 to {LONGEST} characters, got {label[:LONGEST]!r}"
        )
    return word
