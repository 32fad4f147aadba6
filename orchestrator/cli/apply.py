"""``glovebox apply``: brings a session's changes home, whole or in parts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from orchestrator.cli.commits import CommitWish, take_commits
from orchestrator.cli.exporting import Outgoing, Wish, to_branch, to_patch
from orchestrator.cli.picking import pick
from orchestrator.cli.run_io import open_io
from orchestrator.cli.workspace import (
    Directory,
    Everything,
    Json,
    Ours,
    Place,
    SessionArgument,
    Theirs,
    open_place,
    print_json,
    say,
    show,
    sides_of,
)
from orchestrator.errors import UsageError
from orchestrator.harness.applying import apply_recorded
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.handover import Applied, drop_emptied, read_pieces
from orchestrator.workspace.node import ChangeSet, encode_change
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.portions import parse_hunks
from orchestrator.workspace.summary import effect_lines, left_lines
from orchestrator.workspace.workspace import Workspace


def apply(
    session: SessionArgument = None,
    cd: Directory = Path(),
    path: Annotated[
        list[str] | None, typer.Option("--path", help="Only what this glob matches; repeatable.")
    ] = None,
    hunk: Annotated[
        list[str] | None,
        typer.Option(
            "--hunk",
            metavar="PATH:N[,N]",
            help="Only these hunks of a file, as `diff --hunks` numbers them; repeatable.",
        ),
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask about each file and hunk.")
    ] = False,
    include_protected: Annotated[
        bool, typer.Option("--include-protected", help="Apply protected paths too.")
    ] = False,
    ignored: Annotated[bool, typer.Option("--ignored", help="Apply what git ignores too.")] = False,
    skip_conflicts: Annotated[
        bool, typer.Option("--skip-conflicts", help="Leave conflicting files in the box.")
    ] = False,
    ours: Ours = None,
    theirs: Theirs = None,
    commits: Annotated[
        bool,
        typer.Option(
            "--commits", help="Instead, make branches glovebox/SESSION/… of the box's commits."
        ),
    ] = False,
    box_branch: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BRANCH", help="With --commits: only this branch of the box; repeatable."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --commits: do not ask.")] = False,
    patch: Annotated[
        Path | None,
        typer.Option("--patch", help="Write a patch for `git apply` instead; - is stdout."),
    ] = None,
    branch: Annotated[
        str | None,
        typer.Option("--branch", help="Commit onto this new branch instead; your files stay."),
    ] = None,
    message: Annotated[
        str | None, typer.Option("--message", "-m", help="Message of that commit.")
    ] = None,
    everything: Everything = False,
    as_json: Json = False,
) -> int:
    """Bring a session's changes to the host.

    All of the selected changes are applied or none. Exit code 1 when something that was asked
    for could not be applied. With --patch or --branch the changes stay in the box too.
    """
    if (patch and branch) or (interactive and (patch or branch)) or (message and not branch):
        raise UsageError("apply: give one of -i, --patch and --branch, and -m only with --branch")
    if interactive and (path or hunk or as_json or include_protected):
        raise UsageError(
            "apply: -i asks about each change, the protected ones too; it goes with no --path, "
            "--hunk, --include-protected and --json",
            hint="give -i alone; a protected path takes the whole word yes",
        )
    if commits:
        if path or hunk or interactive or skip_conflicts or ours or theirs:
            raise UsageError(
                "apply --commits: branches are fetched whole; choose with --box-branch"
            )
        wish = CommitWish(tuple(box_branch or ()), include_protected, yes, as_json)
        with open_place() as place:
            workspace, changes = place.open(session, cd)
            return place.exit_code(take_commits(workspace, changes, wish, paths=place.paths))
    selection = Selection(
        tuple(path or ()),
        include_protected=include_protected,
        skip_conflicts=skip_conflicts,
        ignored=ignored,
        hunks=parse_hunks(hunk or ()),
        keep_ours=tuple(ours or ()),
    )
    with open_place() as place:
        workspace, changes = place.open(session, cd, sides_of(ours, theirs))
        if interactive:
            return place.exit_code(_interactive(place, workspace, changes, ignored=ignored))
        outgoing = Outgoing(place, workspace, changes, selection)
        if patch is not None:
            return place.exit_code(to_patch(outgoing, patch))
        if branch is not None:
            return place.exit_code(to_branch(outgoing, Wish(branch, message, as_json)))
        applied = anyio.run(
            lambda: apply_recorded(workspace, changes, selection, paths=place.paths)
        )
        if as_json:
            print_json(_encode_applied(changes, applied))
        else:
            _tell(changes, applied, everything=everything)
        return place.exit_code(_wind_up(workspace, changes, applied))


def _interactive(place: Place, workspace: Workspace, changes: ChangeSet, *, ignored: bool) -> int:
    terminal = open_io(quiet=False, json_events=False).terminal
    if terminal is None:
        raise UsageError(
            "apply: -i needs a terminal on stdin and stderr",
            hint="choose with --path and --hunk instead",
        )
    shown = [c for c in changes.changes if not c.renamed_to and (ignored or not c.ignored)]

    async def work() -> Applied | None:
        pieces = await read_pieces(workspace, shown)
        picked = await pick(terminal, changes, pieces)
        selection = picked.selection(ignored=ignored)
        if selection is None:
            return None
        return await apply_recorded(workspace, changes, selection, paths=place.paths)

    applied = anyio.run(work)
    if applied is None:
        say([f"nothing was applied; all changes wait: glovebox diff {changes.session}"])
        return 0
    # Each was asked about by its name.
    _tell(changes, applied, everything=False)
    return _wind_up(workspace, changes, applied)


def _wind_up(workspace: Workspace, changes: ChangeSet, applied: Applied) -> int:
    """Drop what is empty by now, or say where the rest is; return the exit code."""
    if applied.nothing_left:
        # After all was told: an engine takes its time with a large volume.
        sys.stdout.flush()
        anyio.run(drop_emptied, workspace, applied)
    else:
        say([f"the rest waits: glovebox diff {changes.session}"])
    return 0 if applied.complete else 1


def _tell(changes: ChangeSet, applied: Applied, *, everything: bool) -> None:
    say(effect_lines(applied.changes, everything=everything))
    say(left_lines(applied.left, everything=everything))
    in_part = sum(change.partial for change in applied.changes)
    part = f", {in_part} of them in part" if in_part else ""
    where = escape_terminal(changes.directory)
    show([f"{len(applied.changes)} changes applied to {where}{part}"])


def _encode_applied(changes: ChangeSet, applied: Applied) -> dict[str, Any]:
    return {
        "session": changes.session,
        "directory": changes.directory,
        "applied": [encode_change(change) for change in applied.changes],
        "left": [{"path": item.path, "reason": item.reason} for item in applied.left],
        "nothing_left": applied.nothing_left,
    }
