"""Other names of one file: a hidden one must not be read, nor an outside one written, by a link."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator

from orchestrator.workspace.tree import Found, Tree

_File = tuple[int, int]
"""Device and inode."""
_SPECIAL = re.compile(r"[*?\[\]{}\\!]")


def find_twins(tree: Tree, paths: Iterable[str]) -> Iterator[str]:
    """Yield the other names, within a tree, of the files at and below some paths.

    Costs a walk of the whole tree, but only where one of the files has another name.
    """
    given = set(paths)
    files = {_file(found.stat) for path in given for found in _files(tree, path) if _linked(found)}
    if not files:
        return
    for found in tree.visible("", closed=given):
        if _linked(found) and _file(found.stat) in files and found.path not in given:
            yield found.path


def outside_links(tree: Tree) -> list[str]:
    """Return files of a tree that have a name outside it too; sorted."""
    names: dict[_File, list[str]] = {}
    counts: dict[_File, int] = {}
    for found in tree.visible(""):
        if _linked(found):
            names.setdefault(_file(found.stat), []).append(found.path)
            counts[_file(found.stat)] = found.stat.st_nlink
    return sorted(p for file, paths in names.items() if len(paths) < counts[file] for p in paths)


def literal_glob(path: str) -> str:
    """Return a pattern that matches a path, and little else, whatever characters it has."""
    return _SPECIAL.sub("?", path)


def _files(tree: Tree, path: str) -> Iterator[Found]:
    info = tree.lstat(path)
    if info is None:
        return
    if stat.S_ISDIR(info.st_mode):
        yield from tree.visible(path)
    else:
        yield Found(path, info)


def _linked(found: Found) -> bool:
    return stat.S_ISREG(found.stat.st_mode) and found.stat.st_nlink > 1


def _file(info: os.stat_result) -> _File:
    return info.st_dev, info.st_ino
