"""``glovebox sessions prune`` and ``rm``: sessions that nobody needs any more."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.sessions_chosen import Json, folder_of, show, tell, user_paths
from orchestrator.config.paths import Paths
from orchestrator.config.settings import load_settings
from orchestrator.errors import GloveboxError, UsageError
from orchestrator.harness.retention import (
    Removal,
    check_removable,
    due,
    has_changes,
    remove_session,
)
from orchestrator.policy.units import parse_duration
from orchestrator.sessions.finding import SessionFile, find_session, list_sessions

Changes = Annotated[
    bool, typer.Option("--changes", help="Drop changes that wait in their boxes too.")
]
Audit = Annotated[bool, typer.Option("--audit", help="Remove their audit chains too.")]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would go.")]


def rm(
    sessions: Annotated[list[str], typer.Argument(help="Session ids or beginnings of them.")],
    changes: Changes = False,
    audit: Audit = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> int:
    """Remove sessions. One that is open, or whose changes wait, stays; the audit chain stays too."""
    paths = user_paths()
    # All are looked up first: a wrong id removes nothing.
    chosen = [find_session(paths.sessions, prefix) for prefix in sessions]
    unique = list({item.path: item for item in chosen}.values())
    return _remove(unique, paths, Removal(changes, audit), dry_run=dry_run, as_json=as_json)


def prune(
    older_than: Annotated[
        str | None,
        typer.Option(help="Those not written to for this long, such as 30d.", metavar="TIME"),
    ] = None,
    keep: Annotated[int | None, typer.Option(min=0, help="Leave this many of the newest.")] = None,
    cd: Annotated[Path, typer.Option("--cd", "-C", help="Directory they worked on.")] = Path(),
    everywhere: Annotated[bool, typer.Option("--all", help="Those of all directories.")] = False,
    changes: Changes = False,
    audit: Audit = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> int:
    """Remove old sessions of a directory. One that is open, or whose changes wait, stays.

    Without --older-than and --keep the bounds of `sessions` in config.yaml hold.
    """
    paths, place = user_paths(), "--older-than"
    if older_than is None and keep is None:
        older_than, keep = _bounds_set(paths)
        place = "config.yaml: sessions.older_than"
    try:
        before = None if older_than is None else time.time() - parse_duration(older_than)
    except ValueError as error:
        raise UsageError(f"{place}: {error}") from error
    found = list_sessions(folder_of(cd, paths, everywhere=everywhere))
    chosen = due(found, before=before, keep=keep)
    if not changes:
        waiting = [item for item in chosen if has_changes(item.header.id, paths)]
        chosen = [item for item in chosen if item not in waiting]
        tell(*(f"session {item.header.id} stays: changes wait in its box" for item in waiting))
    if not chosen:
        tell("nothing to remove")
    return _remove(chosen, paths, Removal(changes, audit), dry_run=dry_run, as_json=as_json)


def _bounds_set(paths: Paths) -> tuple[str | None, int | None]:
    """Return what the person's settings say; UsageError where they say nothing."""
    given = load_settings(paths.config / "config.yaml", os.environ).sessions
    if given.older_than is None and given.keep is None:
        raise UsageError(
            "prune: expected --older-than or --keep, got neither, and config.yaml sets none",
            hint="--older-than 30d --dry-run shows what would go",
        )
    return given.older_than, given.keep


def _remove(
    chosen: Sequence[SessionFile],
    paths: Paths,
    removal: Removal,
    *,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Remove them one by one; 1 where one of them could not be."""
    removed, freed, failed = [], 0, False
    for item in chosen:
        try:
            if dry_run:
                check_removable(item, paths, removal)
                freed += item.size
            else:
                freed += remove_session(item, paths, removal)
        except GloveboxError as error:
            tell(error.message, *([f"  {error.hint}"] if error.hint else []))
            failed = True
            continue
        removed.append(item.header.id)
    word = "would be removed" if dry_run else "removed"
    if as_json:
        show(json.dumps({"removed": removed, "bytes": freed, "dry_run": dry_run}))
    else:
        show(*(f"session {session} {word}" for session in removed))
        if removed:
            tell(
                f"{len(removed)} sessions, {freed / 2**20:.1f} MiB {'to be ' if dry_run else ''}freed"
            )
    return int(failed)
