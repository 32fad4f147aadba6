"""Where a conversation can be cut or go on: never between a call and its results. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.errors import UsageError
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.labels import labels_of
from orchestrator.sessions.tree import EntryTree


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a tree."""

    leaf: EntryId | None
    """The last entry that stands before it; None for the very beginning."""
    text: str = ""
    """What the person had said there, to be said anew."""


def find_entry(tree: EntryTree, word: str) -> Entry:
    """Return the entry that an id, the beginning of one, or a label names; UsageError for none."""
    if EntryId(word) in tree.by_id:
        return tree.by_id[EntryId(word)]
    labelled = [target for target, label in labels_of(tree.entries).items() if label == word]
    found = labelled or [entry.id for entry in tree.entries if word and entry.id.startswith(word)]
    if len(found) != 1:
        raise UsageError(
            f"entry {word!r}: expected one with this id or label, found {len(found)}",
            hint="`glovebox sessions show SESSION` prints ids and labels",
        )
    return tree.by_id[found[0]]


def before(tree: EntryTree, target: EntryId) -> Place:
    """Return the place before an entry; before the whole turn where it is a call's result.

    UsageError where there is no such entry.
    """
    first = _turn_of(tree, _known(tree, target))
    return Place(first.parent, said(first))


def after(tree: EntryTree, target: EntryId) -> Place:
    """Return the place after an entry; after all results where it called tools or is one.

    UsageError where there is no such entry.
    """
    return Place(_last_result(tree, _turn_of(tree, _known(tree, target))).id)


def said(entry: Entry) -> str:
    """Return the person's own words of a message: the last text, as notes of ours stand before."""
    if entry.type != "message" or entry.body["role"] != "user":
        return ""
    texts = [part["text"] for part in entry.body["content"] if part["type"] == "text"]
    return str(texts[-1]) if texts else ""


def _known(tree: EntryTree, target: EntryId) -> Entry:
    entry = tree.by_id.get(target)
    if entry is None:
        raise UsageError(
            f"entry {target!r}: there is none in this session",
            hint="`glovebox sessions show SESSION` prints the ids",
        )
    return entry


def _turn_of(tree: EntryTree, entry: Entry) -> Entry:
    """Return the answer whose results the entry holds, or the entry itself."""
    if not _is(entry, "tool"):
        return entry
    for above in reversed(tree.path(entry.id)):
        if _is(above, "assistant"):
            return above
    return entry


def _last_result(tree: EntryTree, turn: Entry) -> Entry:
    """Return the last results below an answer, those of the conversation as it stands first."""
    if not _is(turn, "assistant") or not _calls(turn):
        return turn
    current = {entry.id for entry in tree.path()}
    below, ends = {turn.id}, [turn]
    for entry in tree.entries:
        if entry.parent not in below or entry.id in below:
            continue
        if _is(entry, "tool"):
            ends.append(entry)
        elif entry.type in {"message", "leaf", "compaction", "branch_summary"}:
            continue
        below.add(entry.id)
    return next((end for end in reversed(ends[1:]) if end.id in current), ends[-1])


def _is(entry: Entry, role: str) -> bool:
    return entry.type == "message" and entry.body["role"] == role


def _calls(entry: Entry) -> bool:
    return any(part["type"] == "tool_call" for part in entry.body["content"])
