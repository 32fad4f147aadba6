"""``glovebox apply --commits``: show the commits of a box, ask, and make branches of them."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import partial

import anyio

from orchestrator.cli.run_io import open_io
from orchestrator.config.paths import Paths
from orchestrator.errors import UsageError
from orchestrator.harness.applying import fetch_recorded
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.bundle_header import RefusedBranch
from orchestrator.workspace.commit_choice import check_unguarded, choose_branches, left_branches
from orchestrator.workspace.commit_set import BoxBranch, BoxCommits, branch_rows
from orchestrator.workspace.commit_words import branch_lines, refused_lines
from orchestrator.workspace.commits import read_commits
from orchestrator.workspace.node import ChangeSet
from orchestrator.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class CommitWish:
    """What the command line asks for."""

    branches: tuple[str, ...]
    """Names in the box; all when empty."""
    include_protected: bool
    yes: bool
    as_json: bool


def take_commits(
    workspace: Workspace, changes: ChangeSet, wish: CommitWish, *, paths: Paths
) -> int:
    """Return 0 where all branches are made that were asked for, else 1."""
    commits = anyio.run(read_commits, workspace, changes)
    chosen = choose_branches(commits, wish.branches)
    left = left_branches(commits, wish.branches)
    for line in (*branch_lines(chosen), *refused_lines(left)):
        sys.stderr.write(f"{line}\n")
    if not wish.include_protected:
        check_unguarded(chosen)
    if not wish.yes and not anyio.run(_ask):
        sys.stderr.write("nothing was fetched\n")
        return 1
    anyio.run(partial(_fetch, workspace, commits, wish, paths))
    _report(commits, chosen, left, as_json=wish.as_json)
    return int(bool(left))


async def _ask() -> bool:
    terminal = open_io(quiet=True, json_events=False).terminal
    if terminal is None:
        raise UsageError(
            "apply --commits: nobody can be asked here", hint="look at the list, then add --yes"
        )
    terminal.discard_input()
    terminal.write("make these branches? y = yes, n = no (default): ")
    answer = await terminal.read_line()
    return (answer or "").strip().lower() in {"y", "yes"}


async def _fetch(workspace: Workspace, shown: BoxCommits, wish: CommitWish, paths: Paths) -> None:
    await fetch_recorded(
        workspace,
        shown,
        wish.branches,
        include_protected=wish.include_protected,
        paths=paths,
    )


def _report(
    commits: BoxCommits,
    chosen: tuple[BoxBranch, ...],
    left: tuple[RefusedBranch, ...],
    *,
    as_json: bool,
) -> None:
    if as_json:
        made = {
            "session": commits.session,
            "branches": list(branch_rows(chosen)),
            "left": [{"branch": one.name, "reason": one.reason} for one in left],
        }
        sys.stdout.write(json.dumps(made) + "\n")
        return
    for branch in chosen:
        target = escape_terminal(branch.target)
        sys.stdout.write(f"branch {target}: {len(branch.commits)} commits\n")
    sys.stderr.write(f"look: git log -p {escape_terminal(chosen[0].target)}\n")
