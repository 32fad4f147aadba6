"""What may reach the host, and what a person must be told of it. Pure."""

from __future__ import annotations

import functools
import itertools
import posixpath
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from orchestrator.workspace.globs import PathGlobs
from orchestrator.workspace.host_effects import effect_on_host, gained_execution
from orchestrator.workspace.node import PERMISSIONS, Change, Limits, Node, is_git_internal
from orchestrator.workspace.plain_repositories import MEANING, PlainRepositories
from orchestrator.workspace.windows_names import literal_names, other_readings

STAGING_PREFIX = ".glovebox-apply-"
"""Names at the top of the host's directory that belong to a running apply."""


@dataclass(frozen=True)
class Rules:
    """Everything a verdict on a change depends on."""

    protected: PathGlobs
    hidden: PathGlobs
    effects: tuple[tuple[str, PathGlobs], ...]
    limits: Limits
    on_host: Callable[[str], bool]
    """Whether the host holds a file or a link of that path now."""

    @functools.cached_property
    def _names(self) -> frozenset[str]:
        effects = (globs.patterns for _, globs in self.effects)
        return literal_names(
            itertools.chain(self.protected.patterns, self.hidden.patterns, *effects)
        )

    def guarded_by_windows(self, path: str) -> str:
        """Return in words which protected or hidden path Windows opens for this one, if any."""
        readings = other_readings(path, self._names)
        if readings is None:
            return "Windows may open any of many paths for this name"
        for one in readings:
            if self.protected.covers(one) or self.hidden.covers(one):
                return f"Windows opens {one!r} for this name"
        return ""

    def effect(self, path: str) -> str:
        """Return what on a host would run or obey the file; empty where nothing is known to."""
        readings = (path, *(other_readings(path, self._names) or ()))
        return next((word for one in readings if (word := effect_on_host(one, self.effects))), "")


def judge(changes: Iterable[Change], rules: Rules) -> tuple[Change, ...]:
    """Return the changes with what policy and safety say about each."""
    given = list(changes)
    plain = PlainRepositories(
        (change.path for change in given if change.new and change.new.type != "directory"),
        rules.on_host,
    )
    removed = {change.path: change.old for change in given if change.renamed_to}
    return tuple(
        _judge_one(change, rules, plain, moved=removed.get(change.renamed_from)) for change in given
    )


def _judge_one(
    change: Change, rules: Rules, plain: PlainRepositories, *, moved: Node | None
) -> Change:
    in_plain_sight = change.new is not None and plain.own(change.path)
    effect = "" if change.kind == "deleted" else rules.effect(change.path)
    other = rules.guarded_by_windows(change.path)
    effect = effect or (MEANING if in_plain_sight else gained_execution(change, moved))
    return replace(
        change,
        protected=in_plain_sight or bool(other) or rules.protected.covers(change.path),
        runs_on_host=effect,
        refused=_refusal(change, rules),
        notes=(*_notes(change.new), *([other] if other else ())),
    )


def _refusal(change: Change, rules: Rules) -> str:
    if is_git_internal(change.path):
        return "nothing inside .git is applied"
    if change.path.split("/", 1)[0].startswith(STAGING_PREFIX):
        return f"names that begin with {STAGING_PREFIX} are reserved"
    if rules.hidden.covers(change.path):
        return "policy hides this path from the box"
    new = change.new
    if new is None:
        return ""
    if new.trouble:
        return new.trouble
    if new.type in {"fifo", "socket", "device"}:
        return f"it is a {new.type}; only files, directories and links are applied"
    if new.type == "symlink":
        return link_refusal(change.path, new.target)
    if new.size > rules.limits.file_bytes:
        return f"it holds {new.size} bytes, more than the limit of {rules.limits.file_bytes}"
    return ""


def link_refusal(path: str, target: str) -> str:
    """Return why a symlink may not be made on the host; empty when it stays inside.

    ``..`` counts only in front: after a name it could climb from wherever that name leads.
    """
    if target.startswith("/"):
        return "it is a link to an absolute path"
    parts = [part for part in target.split("/") if part not in {"", "."}]
    climbs = 0
    while climbs < len(parts) and parts[climbs] == "..":
        climbs += 1
    if climbs > path.count("/") or ".." in parts[climbs:]:
        return "it is a link that leads out of the directory"
    landing = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return "it is a link into .git" if is_git_internal(landing) else ""


def _notes(new: Node | None) -> tuple[str, ...]:
    if new is None or new.type != "file":
        return ()
    notes = []
    if new.mode & ~PERMISSIONS:
        notes.append("set-user-id, set-group-id and sticky bits are dropped")
    if new.links > 1:
        notes.append("it is a hard link in the box; applied as a file of its own")
    return tuple(notes)
