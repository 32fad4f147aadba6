"""Directories besides the project that a session may read: mounted read-only, secrets covered.

So are the doors to the host in them, which a read-only mount leaves open.
"""

from __future__ import annotations

import stat
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.schema.mount import Mount
from orchestrator.workspace.covers import cover, cover_mount, masked_cover
from orchestrator.workspace.doors import check_doors, door_covers, door_notice, find_doors
from orchestrator.workspace.late_doors import Looked, note_doors
from orchestrator.workspace.masking import Kept, find_kept
from orchestrator.workspace.tree import Tree, open_tree

ROOT = "/dirs"
"""Where they are in the box, each under its own name."""


@dataclass(frozen=True, slots=True)
class Brought:
    """Directories that come along."""

    mounts: tuple[Mount, ...] = ()
    notices: tuple[str, ...] = ()
    """What the person should know, one line each, raw."""


def mount_directories(
    directories: Sequence[Path], *, hidden: Sequence[str], folder: Path
) -> Brought:
    """Return the mounts; ``folder`` holds the covers and must outlive the box.

    Raises WorkspaceError for a hidden path or a door that no mount can cover. Only for a local
    engine.
    """
    mounts: list[Mount] = []
    notices: list[str] = []
    known: dict[Path, Looked] = {}
    for directory, target in zip(directories, target_names(directories), strict=True):
        named = f"--add-dir {directory}"
        mounts.append(Mount("bind", str(directory), target, read_only=True))
        with open_tree(directory) as tree:
            kept = find_kept(tree, hidden, pass_deep=True)
            doors = find_doors(tree, closed=kept.hidden)
            check_doors(doors, named=named, hint="name a directory beside them")
            known[directory] = Looked(tuple(doors), kept.hidden)
            notices += door_notice(doors, named)
            mounts += door_covers(doors, target, folder)
            mounts += _covers(tree, kept, target, folder, done={door.path for door in doors})
            # Numbered on, so that no two directories share a file.
            for number, (path, content) in enumerate(sorted(kept.masked.items()), len(mounts)):
                source = masked_cover(folder / "dirs", number, content)
                mounts.append(cover_mount(source, target, path))
    note_doors(folder, "dirs", known)
    return Brought(tuple(mounts), tuple(notices))


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


def _covers(
    tree: Tree, kept: Kept, target: str, folder: Path, *, done: Container[str]
) -> list[Mount]:
    covers = []
    for path in sorted(kept.hidden):
        if path in done:
            continue
        info = tree.lstat(path)
        kind = stat.S_IFMT(info.st_mode) if info is not None else 0
        if kind not in {stat.S_IFREG, stat.S_IFDIR}:
            raise WorkspaceError(
                f"--add-dir {tree.root}: {path!r} is hidden by policy, and as a link it cannot be "
                "covered",
                hint="name a directory beside it",
            )
        source = cover(folder, is_directory=kind == stat.S_IFDIR)
        covers.append(cover_mount(source, target, path))
    return covers
