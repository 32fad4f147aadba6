"""Which of a box's branches are taken, and whether they may be without an explicit yes. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from orchestrator.errors import UsageError, WorkspaceError
from orchestrator.workspace.bundle_header import RefusedBranch
from orchestrator.workspace.commit_set import BoxBranch, BoxCommits


def choose_branches(shown: BoxCommits, names: Iterable[str]) -> tuple[BoxBranch, ...]:
    """Return the named branches, or without a name all that can go together.

    Raises an error where there are none, and where one that was named cannot go.
    """
    if shown.trouble:
        raise WorkspaceError(shown.trouble, hint="`glovebox apply` still applies the files")
    wanted = tuple(dict.fromkeys(names))
    known = {branch.name: branch for branch in shown.branches}
    for name in wanted:
        if name not in known:
            why = {one.name: one.reason for one in shown.refused}.get(name)
            raise UsageError(
                f"branch {name!r}: " + (why or "the box has no new commits on it"),
                hint=f"it has some on: {', '.join(known) or 'no branch'}",
            )
    staying = {one.name: one.reason for one in left_branches(shown, wanted)}
    for name in wanted:
        if name in staying:
            raise UsageError(f"branch {name!r}: {staying[name]}")
    going = tuple(known[name] for name in wanted or known if name not in staying)
    if not going and staying:
        raise WorkspaceError(
            "none of the box's branches can be fetched:\n"
            + "\n".join(f"  {name!r}: {why}" for name, why in list(staying.items())[:20]),
            hint="rename them in the box; `glovebox apply` still applies the files",
        )
    if not going:
        raise WorkspaceError(
            f"session {shown.session}: it made no commits that this repository lacks"
        )
    return going


def left_branches(shown: BoxCommits, names: Iterable[str]) -> tuple[RefusedBranch, ...]:
    """Return what stays behind when the named branches, or all without a name, are asked for."""
    wanted = tuple(names)
    asked = [branch.name for branch in shown.branches if not wanted or branch.name in wanted]
    files: dict[str, set[str]] = defaultdict(set)
    directories: dict[str, set[str]] = defaultdict(set)
    for name in asked:
        parts = name.casefold().split("/")
        files["/".join(parts)].add(name)
        for count in range(1, len(parts)):
            directories["/".join(parts[:count])].add(name)
    clashing: dict[str, str] = {}
    for fold, same in files.items():
        together = same | directories.get(fold, set())
        for name in together if len(together) > 1 else ():
            others = ", ".join(sorted(together - {name}))
            clashing[name] = f"by case only it differs from {others}; choose one with --box-branch"
    clashes = tuple(RefusedBranch(name, why) for name, why in sorted(clashing.items()))
    return clashes if wanted else (*shown.refused, *clashes)


def check_unguarded(branches: Iterable[BoxBranch]) -> None:
    """Raise WorkspaceError where a branch touches paths that want an explicit yes."""
    guarded = [file for branch in branches for file in branch.guarded]
    if guarded:
        raise WorkspaceError(
            f"{len(guarded)} files in the commits want an explicit yes, nothing was fetched:\n"
            + "\n".join(f"  {file.path!r}: {file.protected}" for file in guarded[:20]),
            hint="look at them, then add --include-protected",
        )
