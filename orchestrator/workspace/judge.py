"""What may reach the host, and what a person must be told of it. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, replace

from orchestrator.workspace.globs import PathGlobs
from orchestrator.workspace.host_effects import effect_on_host, gained_execution
from orchestrator.workspace.node import PERMISSIONS, Change, Limits, Node, is_git_internal

STAGING_PREFIX = ".glovebox-apply-"
"""Names at the top of the host's directory that belong to a running apply."""

_BARE_PARTS = ("HEAD", "objects", "refs")


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything a verdict on a change depends on."""

    protected: PathGlobs
    hidden: PathGlobs
    effects: tuple[tuple[str, PathGlobs], ...]
    limits: Limits


def judge(changes: Iterable[Change], rules: Rules) -> tuple[Change, ...]:
    """Return the changes with what policy and safety say about each."""
    given = list(changes)
    bare = bare_repositories(change.path for change in given if change.new is not None)
    return tuple(_judge_one(change, rules, bare) for change in given)


def bare_repositories(paths: Iterable[str]) -> frozenset[str]:
    """Return directories that git would take for a repository without a ``.git``."""
    seen: dict[str, set[str]] = {}
    for path in paths:
        parts = path.split("/")
        for index, part in enumerate(parts):
            if part in _BARE_PARTS:
                seen.setdefault("/".join(parts[:index]), set()).add(part)
    return frozenset(path for path, parts in seen.items() if len(parts) == len(_BARE_PARTS))


def _judge_one(change: Change, rules: Rules, bare: frozenset[str]) -> Change:
    effect = "" if change.kind == "deleted" else effect_on_host(change.path, rules.effects)
    above = ancestors(change.path)
    if not effect and not bare.isdisjoint(above):
        effect = "git repository in plain sight"
    effect = effect or gained_execution(change)
    return replace(
        change,
        protected=rules.protected.covers(change.path),
        runs_on_host=effect,
        refused=_refusal(change, rules),
        notes=_notes(change.new),
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


def ancestors(path: str) -> set[str]:
    """Return the directories above a path, the top as an empty text."""
    parts = path.split("/")
    return {"/".join(parts[:count]) for count in range(len(parts))}
