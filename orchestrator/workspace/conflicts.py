"""Finds changes that would overwrite what happened on the host meanwhile.

Each mode knows differently whether a host file still is what the box started from: an overlay by
the inode's change time, which nobody can set back, a copy by what it recorded. ``Baseline`` hides
the difference.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from orchestrator.workspace.contents import plain_node, read_node
from orchestrator.workspace.node import Change, fingerprint, signature
from orchestrator.workspace.tree import Tree

CHANGED = "it changed on the host since the session began"
GONE = "it was deleted on the host since the session began"
APPEARED = "it appeared on the host since the session began"


class Baseline(Protocol):
    """Tells whether the host moved on."""

    def unchanged(self, change: Change, tree: Tree) -> bool:
        """True where the host's file at the change's path is what the box started from."""
        ...

    def stood_at_start(self, path: str) -> bool:
        """True where the path is known to have been on the host when the box first saw it."""
        ...


@dataclass(frozen=True, slots=True)
class SinceStart:
    """An overlay's baseline: the change time of an inode against the session's start."""

    started_ns: int
    copied_up: frozenset[str]
    applied: Mapping[str, str]
    """Path to the fingerprint of what an earlier apply of this session left there."""

    def unchanged(self, change: Change, tree: Tree) -> bool:
        """Believe the inode's change time, or else an equal digest of our own last apply."""
        info = tree.lstat(change.path)
        if info is None or stat.S_ISDIR(info.st_mode) or info.st_ctime_ns <= self.started_ns:
            return True
        ours = self.applied.get(change.path)
        return ours is not None and ours == _fingerprint(tree, change.path, info)

    def stood_at_start(self, path: str) -> bool:
        """Only what was copied up leaves a trace."""
        return path in self.copied_up


def find_conflicts(changes: Iterable[Change], tree: Tree, baseline: Baseline) -> list[Change]:
    """Return the changes with their conflicts; those the host already has are left out."""
    given = list(changes)
    retyped = {c.path for c in given if c.kind == "type" and c.new and c.new.type == "directory"}
    found = []
    for change in given:
        info = tree.lstat(change.path)
        if _already_there(change, tree):
            continue
        conflict = _parent_conflict(change.path, tree, retyped) or _conflict(change, tree, baseline)
        seen = signature(info) if info is not None else None
        found.append(replace(change, conflict=conflict, seen=seen))
    return found


def _conflict(change: Change, tree: Tree, baseline: Baseline) -> str:
    exists = tree.lstat(change.path) is not None
    if change.old is None:
        if exists:
            return APPEARED
        return GONE if baseline.stood_at_start(change.path) else ""
    if not exists:
        return GONE
    return "" if baseline.unchanged(change, tree) else CHANGED


def _already_there(change: Change, tree: Tree) -> bool:
    """True where the host has what the change would make."""
    info = tree.lstat(change.path)
    if change.new is None or info is None:
        return change.new is None and info is None
    now = plain_node(tree, change.path, info)
    same = (now.type, now.size, now.target) == (change.new.type, change.new.size, change.new.target)
    if not same or now.mode & 0o777 != change.new.mode & 0o777:
        return False
    if now.type != "file":
        return True
    ours = fingerprint(change.new)
    return bool(ours) and ours == _fingerprint(tree, change.path, info)


def _parent_conflict(path: str, tree: Tree, retyped: set[str]) -> str:
    """Return why the host can hold nothing at ``path``, as far as no other change mends it."""
    parts = path.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        above = "/".join(parts[:count])
        info = tree.lstat(above)
        if info is None or above in retyped:
            return ""
        if not stat.S_ISDIR(info.st_mode):
            return f"{above} is no directory on the host"
        if info.st_dev != tree.device:
            return f"{above} is another file system on the host"
    return ""


def _fingerprint(tree: Tree, path: str, info: os.stat_result) -> str:
    """Return the fingerprint of what is on the host; empty for a file that may not be read."""
    node = plain_node(tree, path, info)
    if node.type != "file":
        return fingerprint(node)
    try:
        return fingerprint(read_node(tree, path, node))
    except PermissionError:
        return ""
