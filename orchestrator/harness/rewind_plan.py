"""Which files and which point of the conversation a turn or a snapshot stands for. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from orchestrator.errors import UsageError
from orchestrator.harness.rewind_turns import snapshot_at, turns_of
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.copying import FORK
from orchestrator.sessions.entry import Entry
from orchestrator.sessions.tree import EntryTree
from orchestrator.workspace.snapshots_words import Snapshot

What = Literal["both", "files", "conversation"]

MARK = "rewind"
"""The ``kind`` of the session's own entry about a rewind."""
JUMP = "jump"
"""The same about going on from another place, with the files as they are."""

_SNAPSHOT = re.compile(r"s([0-9]{1,9})")
_TURN = re.compile(r"[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Aim:
    """Where a rewind leads."""

    what: What
    turn: int
    snapshot: int | None
    """Number of the snapshot whose files are wanted; None where they stay."""
    leaf: EntryId | None = None
    """Where the conversation goes on; of no meaning where it stays."""
    undo: bool = False
    """It takes the newest rewind back."""


def is_target(text: str) -> bool:
    """Say whether a word on the command line names a turn or a snapshot, and no session."""
    return bool(_TURN.fullmatch(text) or _SNAPSHOT.fullmatch(text))


def plan_rewind(target: str, what: What, *, tree: EntryTree, snapshots: Sequence[Snapshot]) -> Aim:
    """Return what a turn (``3``) or a snapshot (``s7``) stands for; UsageError where there is no such."""
    turns = turns_of(tree)
    named = _SNAPSHOT.fullmatch(target)
    if named:
        return _aim_at_snapshot(int(named[1]), what, tree=tree, snapshots=snapshots)
    if not _TURN.fullmatch(target) or int(target) >= len(turns):
        raise UsageError(
            f"rewind: expected a turn from 0 to {len(turns) - 1} or a snapshot such as s1, "
            f"got {target!r}",
            hint="see both with `glovebox rewind --list`",
        )
    turn = turns[int(target)]
    if what == "conversation":
        return Aim(what, turn.number, None, turn.end)
    snapshot = snapshot_at(turn.number, turns, snapshots)
    if snapshot is None:
        raise UsageError(
            f"rewind: the files of turn {turn.number} are not kept any more",
            hint="see what is with `glovebox rewind --list`; --conversation needs no files",
        )
    return Aim(what, turn.number, snapshot.number, turn.end)


def plan_undo(tree: EntryTree) -> Aim:
    """Return the way back from the newest rewind; UsageError where there was none."""
    for entry in reversed(tree.entries):
        if entry.type == "custom" and entry.body.get("kind") == MARK:
            return _aim_back(entry.body)
    raise UsageError("rewind: there is nothing to undo", hint="glovebox rewind --list shows turns")


def mark_body(aim: Aim, *, before: int | None, leaf: EntryId | None, was: int) -> dict[str, Any]:
    """Return the session's entry about a rewind; ``before``, ``leaf`` and ``was`` lead back."""
    return {
        "kind": MARK,
        "what": aim.what,
        "turn": aim.turn,
        "snapshot": aim.snapshot,
        "before": before,
        "from": leaf,
        "from_turn": was,
        "told": _told(aim),
    }


def notes_for_model(path: Sequence[Entry]) -> list[str]:
    """Return what the model has to know of rewinds, jumps and copies since the last message."""
    notes: list[str] = []
    for entry in reversed(path):
        if entry.type == "message":
            break
        if entry.type == "custom" and entry.body.get("kind") in {MARK, JUMP, FORK}:
            notes.append(str(entry.body.get("told", "")))
    return [note for note in reversed(notes) if note]


def _aim_at_snapshot(
    number: int, what: What, *, tree: EntryTree, snapshots: Sequence[Snapshot]
) -> Aim:
    for snapshot in snapshots:
        if snapshot.number == number:
            entry = EntryId(snapshot.moment.entry) if snapshot.moment.entry else None
            return Aim(what, snapshot.moment.turn, number, _end_of(entry, tree))
    raise UsageError(
        f"rewind: there is no snapshot s{number}", hint="see them with `glovebox rewind --list`"
    )


def _end_of(entry: EntryId | None, tree: EntryTree) -> EntryId | None:
    """Return the results of a model's message, or the message itself where it has none."""
    for other in tree.entries:
        if other.type == "message" and other.parent == entry and other.body["role"] == "tool":
            return other.id
    return entry if entry in tree.by_id else None


def _aim_back(body: Mapping[str, Any]) -> Aim:
    what: What | None = next((word for word in get_args(What) if word == body.get("what")), None)
    turn, before, leaf = (body.get(name) for name in ("from_turn", "before", "from"))
    if what is None or type(turn) is not int or not isinstance(before, int | None):
        raise UsageError(
            "rewind: the entry about the last rewind is damaged",
            hint="choose a turn yourself: glovebox rewind --list shows them",
        )
    return Aim(what, turn, before, EntryId(leaf) if leaf is not None else None, undo=True)


def _told(aim: Aim) -> str:
    if aim.undo:
        # A conversation that is back where it was holds no word of having been away.
        return "[The person took that back.]" if aim.what == "files" else ""
    where = f"the end of turn {aim.turn}" if aim.turn else "the very beginning"
    if aim.what == "both":
        return f"[The person took the conversation and the workspace's files back to {where}.]"
    if aim.what == "files":
        return (
            f"[The person took the workspace's files back to {where}. What later turns changed in "
            "them is undone: look at a file before you rely on what was said above.]"
        )
    return (
        "[The person took the conversation back to here. The workspace's files stay as later turns "
        "left them: look at a file before you rely on what was said above.]"
    )
