"""Which of a box's branches are taken, and whether they may be without an explicit yes. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.errors import UsageError, WorkspaceError
from orchestrator.workspace.commit_set import BoxBranch, BoxCommits


def choose_branches(shown: BoxCommits, names: Iterable[str]) -> tuple[BoxBranch, ...]:
    """Return the named branches, or all without a name; an error where there are none."""
    if shown.trouble:
        raise WorkspaceError(shown.trouble, hint="`glovebox apply` still applies the files")
    wanted = tuple(dict.fromkeys(names))
    known = {branch.name: branch for branch in shown.branches}
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"branch {name!r}: the box has no new commits on it",
                hint=f"it has some on: {', '.join(known) or 'no branch'}",
            )
    if not known:
        raise WorkspaceError(
            f"session {shown.session}: it made no commits that this repository lacks"
        )
    return tuple(known[name] for name in wanted or known)


def check_unguarded(branches: Iterable[BoxBranch]) -> None:
    """Raise WorkspaceError where a branch touches paths that want an explicit yes."""
    guarded = [file for branch in branches for file in branch.guarded]
    if guarded:
        raise WorkspaceError(
            f"{len(guarded)} files in the commits want an explicit yes, nothing was fetched:\n"
            + "\n".join(f"  {file.path!r}: {file.protected}" for file in guarded[:20]),
            hint="look at them, then add --include-protected",
        )
