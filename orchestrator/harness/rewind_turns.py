"""The turns of a conversation, and which snapshot has the files of each. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from orchestrator.schema.ids import EntryId
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.outline import summary_of
from orchestrator.sessions.tree import EntryTree
from orchestrator.workspace.snapshots_words import Moment, Snapshot

WORK = "work"
"""The ``kind`` of the session's own entry about what a wrapped program did up to then."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model and what came of its calls, or a while of a wrapped program's work."""

    number: int
    """From 1; 0 is before the first."""
    entry: EntryId | None
    """The model's message."""
    end: EntryId | None
    """The last entry that belongs to it."""
    time: str = ""
    words: str = ""
    """What the person said before it, or else what the model did; raw."""
    prompted: bool = False


def turns_of(tree: EntryTree) -> list[Turn]:
    """Return the turns of the conversation as it stands, turn 0 first."""
    turns = [Turn(0, None, None)]
    said = ""
    for entry in tree.path():
        role = entry.body["role"] if entry.type == "message" else ""
        if role == "user":
            # The last part: what stands before it are notes of ours.
            said = str((entry.body["content"] or [{}])[-1].get("text") or "")
        elif role == "assistant":
            words = said or summary_of(entry).partition(": ")[2]
            turns.append(
                Turn(len(turns), entry.id, entry.id, entry.time, words, prompted=bool(said))
            )
            said = ""
        elif role == "tool":
            turns[-1] = replace(turns[-1], end=entry.id)
        elif is_work(entry):
            words = str(entry.body.get("words", ""))
            turns.append(Turn(len(turns), entry.id, entry.id, entry.time, words, prompted=True))
            said = ""
    return turns


def is_work(entry: Entry) -> bool:
    """Say whether an entry is the mark of a wrapped program."""
    return entry.type == "custom" and entry.body.get("kind") == WORK


def moment_now(tree: EntryTree) -> Moment:
    """Return where the conversation stands, for a snapshot of now."""
    answers = [
        entry.id
        for entry in tree.path()
        if is_work(entry) or (entry.type == "message" and entry.body["role"] == "assistant")
    ]
    if not answers:
        return Moment("start")
    return Moment("turn", len(answers), answers[-1])


def snapshot_at(turn: int, turns: Sequence[Turn], snapshots: Iterable[Snapshot]) -> Snapshot | None:
    """Return the snapshot of the files at a turn's end; None where it is not kept any more.

    A turn that changed nothing has none of its own: then it is the one before.
    """
    numbers: dict[str, int] = {item.entry or "": item.number for item in turns}
    found = None
    for snapshot in snapshots:
        at = numbers.get(snapshot.moment.entry)
        own = snapshot.moment.kind in {"start", "turn"}
        if at is not None and (at < turn or (own and at == turn)):
            found = snapshot
    return found
