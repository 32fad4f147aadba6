"""``glovebox apply --patch`` and ``--branch``: changes go to git, and the directory stays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import anyio

from orchestrator.cli.workspace import Place, print_json, say, show
from orchestrator.errors import UsageError, WorkspaceError
from orchestrator.harness.applying import branch_recorded, patch_recorded
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.branch import NewCommit, require_repository
from orchestrator.workspace.git_identity import read_identity
from orchestrator.workspace.git_patch import unsayable
from orchestrator.workspace.handover import Applied
from orchestrator.workspace.node import ChangeSet
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.summary import left_lines
from orchestrator.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Wish:
    """The branch that was asked for."""

    branch: str
    message: str | None
    as_json: bool


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Which changes go, and of what."""

    place: Place
    workspace: Workspace
    changes: ChangeSet
    selection: Selection


def to_patch(outgoing: Outgoing, out: Path) -> int:
    """Write the selected changes to a file that is not there yet, or to stdout for ``-``."""
    if str(out) == "-" and sys.stdout.isatty():
        raise UsageError(
            "apply: --patch - would send the box's bytes to this terminal",
            hint="name a file, or redirect stdout",
        )

    def write(file: BinaryIO) -> Applied:
        return anyio.run(
            lambda: patch_recorded(
                outgoing.workspace,
                outgoing.changes,
                outgoing.selection,
                paths=outgoing.place.paths,
                out=file,
            )
        )

    applied = write(sys.stdout.buffer) if str(out) == "-" else _to_file(out, write)
    say(left_lines(applied.left))
    say(f"note: {escape_terminal(line)}" for line in unsayable(applied.changes))
    say([f"{len(applied.changes)} changes written; they wait in the box too"])
    return 0 if applied.complete else 1


def to_branch(outgoing: Outgoing, wish: Wish) -> int:
    """Commit the selected changes onto a new branch of the directory's repository."""
    workspace, changes = outgoing.workspace, outgoing.changes
    require_repository(workspace)
    identity = read_identity(Path(workspace.site.record.directory))
    missing = [key for key in ("user.name", "user.email") if key not in identity]
    if missing:
        raise WorkspaceError(
            f"git: {missing[0]} is not set, so a commit would have no author",
            hint=f"git config --global {missing[0]} VALUE",
        )
    message = wish.message or f"Take the changes of glovebox session {changes.session}"
    commit = NewCommit(wish.branch, message, identity["user.name"], identity["user.email"])
    made, applied = anyio.run(
        lambda: branch_recorded(
            workspace, changes, outgoing.selection, commit=commit, paths=outgoing.place.paths
        )
    )
    say(left_lines(applied.left))
    if wish.as_json:
        paths = [change.path for change in applied.changes]
        print_json({"branch": wish.branch, "commit": made, "changes": paths})
    else:
        show([f"{len(applied.changes)} changes are commit {made[:12]} on branch {wish.branch}"])
    say([f"they wait in the box too; drop them there with glovebox discard {changes.session}"])
    return 0 if applied.complete else 1


def _to_file(out: Path, write: Callable[[BinaryIO], Applied]) -> Applied:
    try:
        file = out.open("xb")
    except OSError as err:
        raise WorkspaceError(
            f"{out}: the patch cannot be written: {err.strerror}",
            hint="name a file that is not there yet",
        ) from err
    try:
        with file:
            return write(file)
    except BaseException:
        out.unlink(missing_ok=True)
        raise
