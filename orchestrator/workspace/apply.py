"""Brings planned changes to the host: staged, journaled, then step by step without overwriting.

Whoever is killed in between leaves a journal; ``recover`` finishes or undoes what it tells of.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.beneath import sync_file_system
from orchestrator.workspace.commit import Committer, RaceLost
from orchestrator.workspace.journal import (
    Journal,
    drop_journal,
    in_phase,
    read_journal,
    write_journal,
)
from orchestrator.workspace.judge import STAGING_PREFIX
from orchestrator.workspace.moves import Linking, Swapping
from orchestrator.workspace.node import Change, Outcome, outcome_of
from orchestrator.workspace.rollback import RolledBack, roll_back
from orchestrator.workspace.staging import (
    OpenContent,
    Stager,
    can_swap,
    open_staging,
    remove_staging,
)
from orchestrator.workspace.tree import Tree, open_tree

OnStep = Callable[[int], None]
"""Told the number of each step that was done, from 1."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where changes are applied, and where the journal of it is kept."""

    directory: Path
    inode: int
    """Of the directory when the session began."""
    folder: Path
    """The session's own directory in the state."""
    swaps: bool | None = None
    """Whether the file system swaps names in one step; None where it shall be tried."""

    @contextmanager
    def open(self) -> Iterator[Tree]:
        """Open the directory; WorkspaceError when another one has taken its place."""
        with open_tree(self.directory) as tree:
            if os.fstat(tree.fd).st_ino != self.inode:
                raise WorkspaceError(
                    f"{self.directory}: this is not the directory that the session worked on",
                    hint="move that one back to this path, or discard the session",
                )
            yield tree


def commit_changes(
    target: Target,
    changes: Iterable[Change],
    content: OpenContent,
    *,
    on_step: OnStep | None = None,
) -> Outcome:
    """Apply all of the changes or none; returns what the session takes as its new base.

    The journal stays, in its last phase, until ``finish``: whoever dies before the session's own
    records are up to date is recovered like any other.
    """
    given = list(changes)
    if read_journal(target.folder) is not None:
        raise WorkspaceError(
            f"{target.directory}: an earlier apply of this session was not finished",
            hint="run `glovebox diff` once; it finishes or undoes it",
        )
    with target.open() as tree:
        journal = _first_journal(target, tree)
        write_journal(target.folder, journal)
        try:
            journal = _stage(tree, journal, given, content, swaps=target.swaps)
        except OSError as err:
            abandon(tree, target.folder, journal)
            raise WorkspaceError(
                f"{err.filename!r}: cannot be staged: {err.strerror}; nothing was applied",
                hint="check the free space and your rights in the directory",
            ) from err
        except BaseException:
            abandon(tree, target.folder, journal)
            raise
        write_journal(target.folder, journal)
        carry_out(tree, target.folder, journal, on_step=on_step, fresh=True)
    return outcome_of(given)


def carry_out(
    tree: Tree,
    folder: Path,
    journal: Journal,
    *,
    on_step: OnStep | None = None,
    fresh: bool = False,
) -> None:
    """Do all steps of a staged journal; undo those done and raise WorkspaceError if one fails.

    ``fresh`` says that none of them was done before.
    """
    number = 0
    with open_staging(tree, journal.staging) as fd:
        committer = _committer(tree, fd, journal)
        try:
            for number, step in enumerate(journal.steps, 1):
                committer.do(step)
                if on_step is not None:
                    on_step(number)
        except (RaceLost, OSError) as err:
            begun = replace(journal, steps=journal.steps[:number]) if fresh else journal
            back = roll_back(committer, folder, begun, staged=journal.steps)
            why = _why(err)
            raise WorkspaceError(f"{why}; {back.words}", hint=back.hint) from err
        sync_file_system(fd)
    write_journal(folder, in_phase(journal, "done"))


def take_back(tree: Tree, folder: Path, journal: Journal) -> RolledBack:
    """Go on with an undoing that was cut off, or that could not reach everything."""
    with open_staging(tree, journal.staging) as fd:
        committer = _committer(tree, fd, journal)
        return roll_back(committer, folder, journal, staged=journal.steps)


def _committer(tree: Tree, fd: int, journal: Journal) -> Committer:
    moves = Swapping(fd) if journal.swaps else Linking(fd)
    return Committer(tree, fd, moves, journal.owner)


def _why(err: RaceLost | OSError) -> str:
    if isinstance(err, RaceLost):
        return f"{err.path!r}: it changed on the host in this moment"
    return f"{err.filename!r}: cannot be applied: {err.strerror}"


def abandon(tree: Tree, folder: Path, journal: Journal) -> None:
    """Forget an apply that has changed nothing yet."""
    remove_staging(tree, journal.staging)
    drop_journal(folder)


def finish(target: Target) -> None:
    """Remove what a finished apply left: the replaced contents and the journal."""
    journal = read_journal(target.folder)
    if journal is not None:
        with target.open() as tree:
            abandon(tree, target.folder, journal)


def _first_journal(target: Target, tree: Tree) -> Journal:
    info = os.fstat(tree.fd)
    return Journal(
        directory=str(target.directory),
        inode=info.st_ino,
        # Nobody else's directory can have this name, so that it may be removed without a look.
        staging=STAGING_PREFIX + secrets.token_hex(8),
        owner=(info.st_uid, info.st_gid) if os.geteuid() == 0 else None,
        phase="staging",
    )


def _stage(
    tree: Tree,
    journal: Journal,
    changes: list[Change],
    content: OpenContent,
    *,
    swaps: bool | None,
) -> Journal:
    os.mkdir(journal.staging, 0o700, dir_fd=tree.fd)
    with open_staging(tree, journal.staging) as fd:
        swaps = can_swap(fd, journal.directory) if swaps is None else swaps
        stager = Stager(tree, fd, content, journal.owner)
        for change in changes:
            stager.add(change)
        sync_file_system(fd)
    return replace(
        journal,
        phase="committing",
        steps=tuple(stager.steps),
        outcome=outcome_of(changes),
        swaps=swaps,
    )
