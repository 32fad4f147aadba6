"""From two observed pictures to the change set that people see and apply takes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import replace

from orchestrator.schema.ids import SessionId
from orchestrator.workspace.compare import compare
from orchestrator.workspace.conflicts import Baseline, find_conflicts
from orchestrator.workspace.git_settings import MAX_CONFIG_BYTES, hook_directory
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.host_effects import effects_table
from orchestrator.workspace.judge import Rules, judge
from orchestrator.workspace.node import Change, ChangeSet, Limits, Observed
from orchestrator.workspace.record import WorkspaceRecord
from orchestrator.workspace.same_names import fold_of, refuse_same_names
from orchestrator.workspace.tree import Tree

_HOOKS = "core.hookspath = "


def assemble(
    record: WorkspaceRecord,
    observed: Observed,
    tree: Tree,
    *,
    baseline: Baseline,
    limits: Limits,
) -> ChangeSet:
    """Return the changes, judged and checked against the host as it is now."""
    rules = Rules(
        protected=path_globs(record.protected),
        hidden=path_globs(record.hidden),
        effects=effects_table(_hook_directories(tree, observed.git_settings)),
        limits=limits,
        on_host=tree.has_file,
    )
    changes: Iterable[Change] = judge(compare(observed.base, observed.box), rules)
    changes = refuse_same_names(changes, fold_of(tree))
    changes = (_keep_unseen(change, observed.kept) for change in changes)
    return ChangeSet(
        session=SessionId(record.session),
        mode=record.mode,
        directory=record.directory,
        changes=tuple(find_conflicts(changes, tree, baseline)),
        inside_git=observed.inside_git,
        moved_repositories=tuple(sorted(observed.moved_repositories)),
        notes=(
            *(f".git/config in the box would run a command: {x}" for x in observed.git_settings),
            *(
                f"{inner}: commits made in this inner repository stay in the box"
                for inner in sorted(observed.moved_repositories)
                if inner
            ),
        ),
    )


def _keep_unseen(change: Change, kept: frozenset[str]) -> Change:
    removes = change.kind in {"deleted", "type"}
    if removes and change.path in kept and not change.refused:
        return replace(change, refused="it holds files that the box never saw; they stay")
    return change


def _hook_directories(tree: Tree, box_settings: tuple[str, ...]) -> list[str]:
    """Return the repository's own hook directories: the host's live one, and the box's wish."""
    found = [line.removeprefix(_HOOKS) for line in box_settings if line.startswith(_HOOKS)]
    info = tree.lstat(".git/config")
    if info is not None and stat.S_ISREG(info.st_mode):
        with tree.file(".git/config") as fd:
            found.append(hook_directory(os.read(fd, MAX_CONFIG_BYTES).decode("utf-8", "replace")))
    return [path for path in (os.path.normpath(p) for p in found if p) if _inside(path)]


def _inside(path: str) -> bool:
    odd = set("*?[]{}\\") & set(path)
    return not path.startswith(("/", "~", "..")) and path != "." and not odd
