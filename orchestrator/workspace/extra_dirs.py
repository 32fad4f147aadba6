"""Directories besides the project that a session may read: mounted read-only, secrets covered."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.schema.mount import Mount
from orchestrator.workspace.covers import cover, masked_cover
from orchestrator.workspace.masking import Kept, find_kept
from orchestrator.workspace.tree import Tree, open_tree

ROOT = "/dirs"
"""Where they are in the box, each under its own name."""


def mount_directories(
    directories: Sequence[Path], *, hidden: Sequence[str], folder: Path
) -> tuple[Mount, ...]:
    """Return the mounts; ``folder`` holds the covers and must outlive the box.

    Raises WorkspaceError for a hidden path that no mount can cover. Only for a local engine.
    """
    mounts: list[Mount] = []
    for directory, target in zip(directories, target_names(directories), strict=True):
        mounts.append(Mount("bind", str(directory), target, read_only=True))
        with open_tree(directory) as tree:
            kept = find_kept(tree, hidden)
            mounts += _covers(tree, kept, target, folder)
            # Numbered on, so that no two directories share a file.
            for number, (path, content) in enumerate(sorted(kept.masked.items()), len(mounts)):
                source = masked_cover(folder / "dirs", number, content)
                mounts.append(Mount("bind", str(source), f"{target}/{path}", read_only=True))
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


def _covers(tree: Tree, kept: Kept, target: str, folder: Path) -> list[Mount]:
    covers = []
    for path in sorted(kept.hidden):
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
