"""Directories besides the project that a session may read: mounted read-only, hidden paths covered."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.schema.mount import Mount
from orchestrator.workspace.covers import cover
from orchestrator.workspace.globs import PathGlobs, path_globs
from orchestrator.workspace.matches import find_matches
from orchestrator.workspace.tree import Tree, open_tree

ROOT = "/dirs"
"""Where they are in the box, each under its own name."""


def mount_directories(
    directories: Sequence[Path], *, hidden: Sequence[str], folder: Path
) -> tuple[Mount, ...]:
    """Return the mounts; ``folder`` holds the covers and must outlive the box.

    Raises WorkspaceError for a hidden path that no mount can cover. Only for a local engine.
    """
    globs = path_globs(tuple(hidden))
    mounts: list[Mount] = []
    for directory, target in zip(directories, target_names(directories), strict=True):
        mounts.append(Mount("bind", str(directory), target, read_only=True))
        with open_tree(directory) as tree:
            mounts += _covers(tree, globs, target, folder)
    return tuple(mounts)


def target_names(directories: Sequence[Path]) -> tuple[str, ...]:
    """Return where each goes: its own name below the root, numbered where two have the same."""
    targets: list[str] = []
    for directory in directories:
        target = first = f"{ROOT}/{directory.name}"
        number = 1
        while target in targets:
            number += 1
            target = f"{first}-{number}"
        targets.append(target)
    return tuple(targets)


def _covers(tree: Tree, globs: PathGlobs, target: str, folder: Path) -> list[Mount]:
    covers = []
    for path in sorted(find_matches(tree, globs)):
        info = tree.lstat(path)
        kind = stat.S_IFMT(info.st_mode) if info is not None else 0
        if kind not in {stat.S_IFREG, stat.S_IFDIR}:
            raise WorkspaceError(
                f"--add-dir {tree.root}: {path!r} is hidden by policy, and as a link or special "
                "file it cannot be covered",
                hint="name a directory beside it",
            )
        source = cover(folder, is_directory=kind == stat.S_IFDIR)
        covers.append(Mount("bind", str(source), f"{target}/{path}", read_only=True))
    return covers
