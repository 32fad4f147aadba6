"""Chooses which changes reach the host, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator.errors import UsageError, WorkspaceError
from orchestrator.workspace.globs import PathGlobs, path_globs
from orchestrator.workspace.node import Change, ChangeSet


@dataclass(frozen=True, slots=True)
class Selection:
    """What the person asked for."""

    globs: tuple[str, ...] = ()
    """Only paths these match, or all when empty."""
    include_protected: bool = False
    skip_conflicts: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """One selected change that stays in the box."""

    path: str
    reason: str
    asked_for: bool = False
    """The person said that such changes may stay behind."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done, in order, and what will not."""

    changes: tuple[Change, ...]
    left: tuple[Left, ...]


def make_plan(changeset: ChangeSet, selection: Selection) -> Plan:
    """Return the plan; WorkspaceError when a selected change conflicts and none may be skipped."""
    wanted = _wanted(selection.globs)
    chosen = [
        change for change in changeset.changes if wanted is None or wanted.covers(change.path)
    ]
    if selection.globs and not chosen:
        raise WorkspaceError(
            f"no change matches {', '.join(selection.globs)}",
            hint=f"see the paths with `glovebox diff --stat {changeset.session}`",
        )
    blocked = {c.path: left for c in chosen if (left := _own_reason(c, selection))}
    _spread(chosen, blocked, changeset.changes)
    conflicts = [c for c in chosen if c.conflict and not c.refused]
    if conflicts and not selection.skip_conflicts:
        raise WorkspaceError(
            f"{len(conflicts)} of {len(chosen)} changes conflict with the host, nothing was "
            "applied:\n" + "\n".join(f"  {c.path!r}: {c.conflict}" for c in conflicts[:20]),
            hint="apply the rest with --skip-conflicts, or look with `glovebox diff`",
        )
    going = [change for change in chosen if change.path not in blocked]
    return Plan(tuple(_in_order(going)), tuple(blocked[path] for path in sorted(blocked)))


def _wanted(globs: tuple[str, ...]) -> PathGlobs | None:
    """A pattern without a slash holds at any depth, one with a slash from the top."""
    if not globs:
        return None
    plain = [glob.removeprefix("./").rstrip("/") for glob in globs]
    try:
        return path_globs([p if "/" in p else f"**/{p}" for p in plain], anywhere=False)
    except ValueError as err:
        raise UsageError(f"--path: {err}", hint="paths are relative to the project") from err


def _own_reason(change: Change, selection: Selection) -> Left | None:
    if change.refused:
        return Left(change.path, change.refused)
    if change.protected and not selection.include_protected:
        return Left(change.path, "it is protected; apply it with --include-protected")
    if change.conflict:
        return Left(change.path, change.conflict, asked_for=selection.skip_conflicts)
    return None


def _spread(chosen: list[Change], blocked: dict[str, Left], everything: Iterable[Change]) -> None:
    """Block what cannot go without a change that does not go, until nothing new is found."""
    going = {change.path for change in chosen}
    types = {c.path: c for c in everything if c.kind == "type"}
    removed = {c.path for c in everything if c.kind in {"deleted", "type"}}
    before = -1
    while before != len(blocked):
        before = len(blocked)
        staying = removed - (going - blocked.keys())
        holding = {above for path in staying for above in _above(path)}
        for change in chosen:
            if change.path not in blocked and (
                reason := _needs(change, blocked, types, holding=holding, going=going)
            ):
                blocked[change.path] = Left(change.path, reason)


def _needs(
    change: Change,
    blocked: dict[str, Left],
    types: dict[str, Change],
    *,
    holding: set[str],
    going: set[str],
) -> str:
    if change.renamed_to in blocked:
        return f"its content moved to {change.renamed_to!r}, which is not applied"
    if change.path in holding and change.old is not None and change.old.type == "directory":
        return "it is not empty on the host without the changes that stay"
    for above in _above(change.path):
        if above in types and (above in blocked or above not in going) and change.new is not None:
            return f"{above!r} above it is not applied"
    return ""


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _in_order(changes: list[Change]) -> list[Change]:
    """Removals first and from the bottom up, then the rest from the top down."""
    removals = [c for c in changes if c.kind == "deleted"]
    others = [c for c in changes if c.kind != "deleted"]
    removals.sort(key=lambda c: (c.path.count("/"), c.path), reverse=True)
    others.sort(key=lambda c: (c.path.count("/"), c.path))
    return [*removals, *others]
