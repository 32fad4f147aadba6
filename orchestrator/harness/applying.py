"""Bringing changes to the host, recorded: intent before the effect, outcome after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.config.paths import Paths
from orchestrator.errors import AuditUnavailable
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.branch import NewCommit
from orchestrator.workspace.commit_choice import check_unguarded, choose_branches
from orchestrator.workspace.commit_fetch import Fetched, fetch_commits
from orchestrator.workspace.commit_set import BoxCommits, branch_rows
from orchestrator.workspace.handover import (
    Applied,
    apply_changes,
    commit_changes_to_branch,
    discard_changes,
    write_patch,
)
from orchestrator.workspace.node import ChangeSet
from orchestrator.workspace.plan import Selection, make_plan
from orchestrator.workspace.workspace import Workspace

MOST_PATHS = 500
"""Paths named in one record; more are told as a count."""


async def apply_recorded(
    workspace: Workspace, changes: ChangeSet, selection: Selection, *, paths: Paths
) -> Applied:
    """Apply the selected changes; without a written intent, nothing is applied."""
    with _announced(paths, changes, selection, to="directory") as audit:
        applied = await apply_changes(workspace, changes, selection)
        _report(audit, applied)
    return applied


async def patch_recorded(
    workspace: Workspace, changes: ChangeSet, selection: Selection, *, paths: Paths, out: BinaryIO
) -> Applied:
    """Write the selected changes as a patch; without a written intent, nothing is."""
    with _announced(paths, changes, selection, to="patch") as audit:
        applied = await write_patch(workspace, changes, selection, out=out)
        _report(audit, applied)
    return applied


async def branch_recorded(
    workspace: Workspace,
    changes: ChangeSet,
    selection: Selection,
    *,
    commit: NewCommit,
    paths: Paths,
) -> tuple[str, Applied]:
    """Commit the selected changes onto a new branch; without a written intent, nothing is."""
    with _announced(paths, changes, selection, to=f"branch {commit.branch}") as audit:
        made, applied = await commit_changes_to_branch(workspace, changes, selection, commit=commit)
        _report(audit, applied, commit=made)
    return made, applied


@contextmanager
def _announced(
    paths: Paths, changes: ChangeSet, selection: Selection, *, to: str
) -> Iterator[AuditLog]:
    """Open the chain with what is about to be done, and where it goes."""
    chosen = [change.path for change in make_plan(changes, selection).changes]
    with session_chain(paths, changes.session) as audit:
        audit.append(
            "apply_intent",
            {
                "to": to,
                "directory": changes.directory,
                "paths": chosen[:MOST_PATHS],
                "count": len(chosen),
                "include_protected": selection.include_protected,
                "hunks": {
                    path: {"numbers": sorted(choice.numbers), "digest": choice.digest}
                    for path, choice in list(selection.hunks.items())[:MOST_PATHS]
                },
            },
        )
        yield audit


def _report(audit: AuditLog, applied: Applied, **more: str) -> None:
    left = [{"path": item.path, "reason": item.reason} for item in applied.left[:MOST_PATHS]]
    audit.append("apply_outcome", {"applied": len(applied.changes), "left": left, **more})


async def fetch_recorded(
    workspace: Workspace,
    shown: BoxCommits,
    names: Iterable[str],
    *,
    include_protected: bool,
    paths: Paths,
) -> Fetched:
    """Make branches of the box's commits; without a written intent, nothing is fetched."""
    chosen = choose_branches(shown, names)
    if not include_protected:
        check_unguarded(chosen)
    with session_chain(paths, shown.session) as audit:
        audit.append(
            "commits_intent",
            {
                "directory": workspace.site.record.directory,
                "bundle": f"sha256:{shown.digest}",
                "branches": list(branch_rows(chosen)),
                "include_protected": include_protected,
            },
        )
        fetched = await fetch_commits(
            workspace,
            shown,
            [branch.name for branch in chosen],
            include_protected=include_protected,
        )
        audit.append("commits_outcome", {"branches": [b.target for b in fetched.branches]})
    return fetched


async def discard_recorded(workspace: Workspace, session: SessionId, *, paths: Paths) -> None:
    """Drop a session's changes, and say so in its chain."""
    if not paths.audit_log(session).exists():
        # A session that never came up has no chain, and dropping its files needs none.
        await discard_changes(workspace)
        return
    with session_chain(paths, session) as audit:
        audit.append("discard", {"directory": workspace.site.record.directory})
        await discard_changes(workspace)


@contextmanager
def session_chain(paths: Paths, session: SessionId) -> Iterator[AuditLog]:
    """Open the chain of a session that does not run; AuditUnavailable where it is missing."""
    path = paths.audit_log(session)
    if not path.exists():
        raise AuditUnavailable(
            f"{path}: the session's audit chain is missing, so nothing is changed",
            hint=f"look at the changes with glovebox diff {session}, and copy by hand what you want",
        )
    audit = AuditLog.resume(path, session=session, signer=Signer.load(paths.keys))
    try:
        yield audit
    finally:
        audit.close()
