"""Empty directories in place of protected ones that do not exist, so that a mount can hold them.

Only directories: an empty file would be read by programs that stumble over it, and would stand
in the way of a commit. Each is recorded before it is made, and removed again if still empty.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from orchestrator.workspace.tree import Tree

PLACEHOLDERS = "placeholders.json"
"""In a session's folder: what was made, relative to the project."""
_SPECIAL = set("*?[]{}\\")


def missing_directories(tree: Tree, patterns: Iterable[str]) -> list[str]:
    """Return the directories of a tree's top that patterns name outright and that are not there."""
    found = set()
    for pattern in patterns:
        stem = pattern.removeprefix("**/").removesuffix("/**")
        if pattern.endswith("/**") and not _SPECIAL & set(stem) and tree.lstat(stem) is None:
            found.add(stem)
    return sorted(found)


def make_placeholders(
    tree: Tree, paths: Iterable[str], *, folder: Path, owner: tuple[int, int]
) -> list[str]:
    """Make directories, and those above them; return the ones that could be made.

    Where something else is in the way of one, it is left out: then nothing can be at its path.
    """
    wanted = sorted({above for path in paths for above in _with_parents(path)})
    lacking = [path for path in wanted if tree.lstat(path) is None]
    recorded = _load(folder)
    (folder / PLACEHOLDERS).write_text(json.dumps(sorted({*recorded, *lacking})), "ascii")
    in_the_way = suppress(FileExistsError, NotADirectoryError, FileNotFoundError)
    for path in lacking:
        with in_the_way, tree.parent(path) as (fd, name):
            os.mkdir(name, 0o755, dir_fd=fd)
            if os.geteuid() == 0:
                os.chown(name, *owner, dir_fd=fd, follow_symlinks=False)
    return [path for path in paths if tree.lstat(path) is not None]


def remove_placeholders(tree: Tree, folder: Path) -> None:
    """Remove the directories that were made here and are still empty."""
    for path in sorted(_load(folder), key=lambda path: path.count("/"), reverse=True):
        # Filled by the person meanwhile, or gone already.
        with suppress(OSError), tree.parent(path) as (fd, name):
            os.rmdir(name, dir_fd=fd)
    (folder / PLACEHOLDERS).unlink(missing_ok=True)


def _load(folder: Path) -> list[str]:
    try:
        found: list[str] = json.loads((folder / PLACEHOLDERS).read_text("ascii"))
    except FileNotFoundError:
        return []
    return found


def _with_parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
