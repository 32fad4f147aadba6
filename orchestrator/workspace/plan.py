"""Chooses which changes reach the host, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.globs import PathGlobs, chosen_globs
from orchestrator.workspace.node import Change, ChangeSet
from orchestrator.workspace.portions import HunkChoice

IGNORED = "git ignores it; apply it with --ignored"


@dataclass(frozen=True, slots=True)
class Selection:
    """What the person asked for."""

    globs: tuple[str, ...] = ()
    """Only paths these match, or all when nothing is named."""
    paths: tuple[str, ...] = ()
    """Only these paths, with what the globs match."""
    include_protected: bool = False
    skip_conflicts: bool = False
    ignored: bool = False
    """Take what git ignores too."""
    hunks: Mapping[str, HunkChoice] = field(default_factory=dict)
    """Files of which only some hunks are wanted, with what else is named."""
    keep_ours: tuple[str, ...] = ()
    """Where these match, a conflict leaves the host's version and is no failure."""


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
    chosen = _chosen(changeset, selection)
    if missing := _unmatched(selection, chosen):
        raise WorkspaceError(
            f"no change matches {', '.join(missing)}",
            hint=f"see the paths with `glovebox diff --stat {changeset.session}`",
        )
    ours = chosen_globs(selection.keep_ours, "--ours")
    blocked = {c.path: left for c in chosen if (left := _own_reason(c, selection, ours))}
    _spread(chosen, blocked, changeset.changes)
    conflicts = [
        c for c in chosen if c.conflict and not c.refused and not blocked[c.path].asked_for
    ]
    if conflicts:
        raise WorkspaceError(
            f"{len(conflicts)} of {len(chosen)} changes conflict with the host, nothing was "
            "applied:\n" + "\n".join(f"  {c.path!r}: {c.conflict}" for c in conflicts[:20]),
            hint=(
                "look with `glovebox diff`; then decide a file with --ours PATH or "
                "--theirs PATH, or apply the rest with --skip-conflicts"
            ),
        )
    going = [change for change in chosen if change.path not in blocked]
    return Plan(tuple(_in_order(going)), tuple(blocked[path] for path in sorted(blocked)))


def _chosen(changeset: ChangeSet, selection: Selection) -> list[Change]:
    wanted = chosen_globs(selection.globs, "--path")
    named = {*selection.paths, *selection.hunks}
    if wanted is None and not named:
        return list(changeset.changes)
    return [
        change
        for change in changeset.changes
        if change.path in named or (wanted is not None and wanted.covers(change.path))
    ]


def _unmatched(selection: Selection, chosen: list[Change]) -> list[str]:
    """Return what was named and is not there; of globs only all of them together."""
    paths = {change.path for change in chosen}
    missing = [path for path in selection.hunks if path not in paths]
    return missing if missing or chosen else list(selection.globs)


def _own_reason(change: Change, selection: Selection, ours: PathGlobs | None) -> Left | None:
    if change.refused:
        return Left(change.path, change.refused)
    if change.protected and not selection.include_protected:
        return Left(change.path, "it is protected; apply it with --include-protected")
    if change.conflict and ours is not None and ours.covers(change.path):
        return Left(change.path, "your version is kept, as asked", asked_for=True)
    if change.conflict:
        return Left(change.path, change.conflict, asked_for=selection.skip_conflicts)
    if change.ignored and not selection.ignored:
        return Left(change.path, IGNORED, asked_for=True)
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
