"""Takes an apply back as far as the host lets it, and says exactly how far that was.

What is out of reach now, because somebody moves the directories above it, stays in the journal: the
next command tries again. What somebody else changed is theirs and is left alone.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.workspace.commit import Committer, Undone
from orchestrator.workspace.journal import Journal, Step, drop_journal, in_phase, write_journal
from orchestrator.workspace.staging import remove_staging
from orchestrator.workspace.tree import Tree

_TRIES = 40
_PAUSE_S = 0.05
"""Seconds between two tries: a name that is moved to and fro is met within two seconds."""
_NAMED = 20


@dataclass(frozen=True, slots=True)
class RolledBack:
    """How far an apply was taken back."""

    staging: str
    """The staging directory, with the path of the project."""
    kept: tuple[str, ...] = ()
    """Paths that somebody else changed meanwhile."""
    aside: bool = False
    """What was before at some of these is in the staging directory."""
    out_of_reach: tuple[str, ...] = ()
    """Paths that are still as the apply made them."""

    @property
    def words(self) -> str:
        """Say what is so now."""
        if not self.kept and not self.out_of_reach:
            return "everything was put back"
        words = []
        if self.kept:
            words.append(
                f"all was put back but {_names(self.kept)}, which somebody else changed meanwhile"
                + (f"; what was there before is in {self.staging}" if self.aside else "")
            )
        if self.out_of_reach:
            words.append(
                f"{len(self.out_of_reach)} names cannot be reached to be put back, and are as the "
                f"apply left them: {_names(self.out_of_reach)}"
            )
        return "; ".join(words)

    @property
    def hint(self) -> str:
        """Say what there is to do."""
        if self.out_of_reach:
            return (
                "put what is above them back in its place; the next `glovebox diff` takes them back"
            )
        return "look again with `glovebox diff`, then apply again"


def roll_back(
    committer: Committer, folder: Path, journal: Journal, *, staged: tuple[Step, ...]
) -> RolledBack:
    """Undo the journal's steps; the journal is gone unless some are out of reach.

    ``staged`` are all steps of the apply, done or not.
    """
    tree = committer.tree
    write_journal(folder, in_phase(journal, "undoing"))
    waiting = _undo_all(journal.steps, committer)
    away = [step for step, how in waiting if how == "away"]
    theirs = [step.path for step, how in waiting if how != "away"]
    kept = tuple(dict.fromkeys((*committer.kept, *theirs)))
    if away:
        # Before what is not needed any more goes; in the order in which they were done.
        write_journal(folder, replace(journal, phase="undoing", steps=tuple(reversed(away))))
    # Of one that was taken back while its directory moved, it is the only proof of that.
    proofs = {step.slot for step in away}
    for step in staged:
        if step.slot not in proofs:
            committer.drop_staged(step)
    if not away:
        _end(tree, folder, journal, empty=not kept)
    return RolledBack(
        f"{tree.root}/{journal.staging}",
        kept,
        aside=tree.lstat(journal.staging) is not None,
        out_of_reach=tuple(sorted(step.path for step in away)),
    )


def _end(tree: Tree, folder: Path, journal: Journal, *, empty: bool) -> None:
    """Forget the apply; what could not be put back is all that is left of somebody's work."""
    if empty:
        remove_staging(tree, journal.staging)
    else:
        with suppress(OSError):
            os.rmdir(journal.staging, dir_fd=tree.fd)
    drop_journal(folder)


def _undo_all(steps: tuple[Step, ...], committer: Committer) -> list[tuple[Step, Undone]]:
    """Undo from the last to the first, and again what could not be; returns what never could."""
    waiting: list[tuple[Step, Undone]] = [(step, "away") for step in reversed(steps)]
    for _ in range(_TRIES):
        before = len(waiting)
        found = [(step, committer.undo(step)) for step, _ in waiting]
        waiting = [(step, how) for step, how in found if how != "done"]
        moving = any(how != "taken" for _, how in waiting) or len(waiting) < before
        if not waiting or not moving:
            break
        time.sleep(_PAUSE_S)
    return waiting


def _names(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(map(repr, paths[:_NAMED])) + more
