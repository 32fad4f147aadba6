"""Applies a list of changes to a directory, told as files; run as a program it can be killed.

``python -m tests.support.host_apply PROJECT FOLDER CONTENTS STEP [link]`` dies by SIGKILL after STEP.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from orchestrator.workspace.apply import OnStep, Target, commit_changes
from orchestrator.workspace.compare import compare
from orchestrator.workspace.contents import plain_node, read_node
from orchestrator.workspace.judge import STAGING_PREFIX
from orchestrator.workspace.node import Change, ChangeSet, Node, Outcome, signature
from orchestrator.workspace.plan import Selection, make_plan
from orchestrator.workspace.tree import Tree, open_tree


def nodes(root: Path) -> dict[str, Node]:
    """Return everything below a directory, contents read."""
    with open_tree(root) as tree:
        return {
            found.path: _node(tree, found.path, found.stat)
            for found in tree.walk("", enter=lambda _: True)
            if not found.path.startswith(STAGING_PREFIX)
        }


def _node(tree: Tree, path: str, info: os.stat_result) -> Node:
    node = plain_node(tree, path, info)
    return read_node(tree, path, node) if node.type == "file" else node


def changes_between(project: Path, contents: Path) -> list[Change]:
    """Return, in the order of an apply, what makes ``project`` look like ``contents``."""
    found = compare(nodes(project), nodes(contents))
    with open_tree(project) as tree:
        seen = [(change, tree.lstat(change.path)) for change in found]
    ready = tuple(replace(c, seen=signature(info) if info else None) for c, info in seen)
    return list(make_plan(ChangeSet("0" * 12, "overlay", str(project), ready), Selection()).changes)


def target(project: Path, folder: Path, *, swaps: bool | None = None) -> Target:
    """Return the project as a target with its journal in ``folder``."""
    return Target(project, project.stat().st_ino, folder, swaps)


def opener(contents: Path) -> Callable[[Change], object]:
    """Return what opens contents in a directory."""

    @contextmanager
    def opened(change: Change) -> Iterator[int]:
        fd = os.open(contents / change.path, os.O_RDONLY)
        try:
            yield fd
        finally:
            os.close(fd)

    return opened


def apply_all(
    project: Path,
    folder: Path,
    contents: Path,
    *,
    on_step: OnStep | None = None,
    swaps: bool | None = None,
) -> Outcome:
    """Make ``project`` look like ``contents``, by the book."""
    changes = changes_between(project, contents)
    return commit_changes(
        target(project, folder, swaps=swaps), changes, opener(contents), on_step=on_step
    )


def main(project: str, folder: str, contents: str, step: str, way: str = "swap") -> None:
    """Apply, and die after a step."""

    def die(number: int) -> None:
        if number == int(step):
            os.kill(os.getpid(), signal.SIGKILL)

    apply_all(Path(project), Path(folder), Path(contents), on_step=die, swaps=way == "swap")


if __name__ == "__main__":
    main(*sys.argv[1:])
