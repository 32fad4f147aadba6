"""Finds the names in a tree that policy speaks of; fast, because every session's start waits."""

from __future__ import annotations

import os
from collections.abc import Iterator

from orchestrator.workspace.globs import PathGlobs
from orchestrator.workspace.tree import Tree


def find_matches(
    tree: Tree, globs: PathGlobs, *, named: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield the topmost paths that match; directories the caller may not list are passed over.

    Mount points are entered: what is hidden must not depend on where it is stored. Paths whose
    last name, in lower case, is in ``named`` are yielded too, and are entered.
    """
    if not globs.patterns and not named:
        return
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        prefix = f"{directory}/" if directory else ""
        try:
            names, inner = _names(tree, directory)
        except PermissionError:
            continue
        matching = {
            name
            for name in (names if globs.may_meet(names) else ())
            if globs.may_end_in(name) and globs.match(prefix + name)
        }
        yield from (prefix + name for name in matching)
        if named:
            yield from (
                prefix + name for name in names if name.lower() in named and name not in matching
            )
        waiting += [prefix + name for name in inner if name not in matching]


def _names(tree: Tree, directory: str) -> tuple[list[str], list[str]]:
    """Return all names, and those of directories."""
    with tree.directory(directory) as fd, os.scandir(fd) as entries:
        found = list(entries)
        names = [entry.name for entry in found]
        return names, [e.name for e in found if e.is_dir(follow_symlinks=False)]
