"""Finds the names in a tree that policy speaks of; fast, because every session's start waits."""

from __future__ import annotations

import os
from collections.abc import Iterator

from orchestrator.workspace.globs import PathGlobs
from orchestrator.workspace.tree import Tree


def find_matches(tree: Tree, globs: PathGlobs) -> Iterator[str]:
    """Yield the topmost paths that match; directories the caller may not list are passed over.

    Mount points are entered: what is hidden must not depend on where it is stored.
    """
    if not globs.patterns:
        return
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        prefix = f"{directory}/" if directory else ""
        try:
            names = _names(tree, directory)
        except PermissionError:
            continue
        for name, is_directory in names:
            path = prefix + name
            if globs.may_end_in(name) and globs.match(path):
                yield path
            elif is_directory:
                waiting.append(path)


def _names(tree: Tree, directory: str) -> list[tuple[str, bool]]:
    with tree.directory(directory) as fd, os.scandir(fd) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
