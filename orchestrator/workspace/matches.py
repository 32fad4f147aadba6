"""Finds the names in a tree that policy speaks of; fast, because every session's start waits."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.globs import PathGlobs
from orchestrator.workspace.tree import Tree


def find_matches(
    tree: Tree, globs: PathGlobs, *, named: frozenset[str] = frozenset(), pass_deep: bool = False
) -> Iterator[str]:
    """Yield the topmost paths that match; directories the caller may not list are passed over.

    Mount points are entered: what is hidden must not depend on where it is stored. Paths whose
    last name, in lower case, is in ``named`` are yielded too, and are entered. A directory nested
    deeper than a path can say is a WorkspaceError, but with ``pass_deep`` is passed over: for those
    who close such directories themselves (``doors``) or only tell what there is.
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
        except OSError as err:
            if err.errno != errno.ENAMETOOLONG:
                raise
            if not pass_deep:
                raise _too_deep(tree, directory) from err
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


def _too_deep(tree: Tree, directory: str) -> WorkspaceError:
    top = directory.partition("/")[0]
    return WorkspaceError(
        f"{tree.root}: below {top!r} directories are nested deeper than a path can say, so nobody "
        "can tell whether policy hides something there",
        hint="remove them; an agent may have made them in bind mode",
    )


def _names(tree: Tree, directory: str) -> tuple[list[str], list[str]]:
    """Return all names, and those of directories."""
    with tree.directory(directory) as fd, os.scandir(fd) as entries:
        found = list(entries)
        names = [entry.name for entry in found]
        return names, [e.name for e in found if e.is_dir(follow_symlinks=False)]
