"""Names that a host's file system takes for one: refused, because one would overwrite the other."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from orchestrator.workspace.git_names import is_git_name
from orchestrator.workspace.node import Change
from orchestrator.workspace.tree import Tree

_MOST_LOOKED_AT = 64
"""Names at the top that are tried until one tells; most have a letter."""

Fold = Callable[[str], str]


def refuse_same_names(changes: Iterable[Change], fold: Fold | None) -> tuple[Change, ...]:
    """Return the changes, those refused whose names the host's file system cannot tell apart.

    A name that some file system takes for ``.git`` is refused everywhere.
    """
    given = tuple(_refuse_git_names(change) for change in changes)
    if fold is None:
        return given
    staying: dict[str, set[str]] = defaultdict(set)
    for change in given:
        if change.new is not None:
            for path in _with_above(change.path):
                staying[fold(path)].add(path)
    return tuple(_refuse_twin(change, staying, fold) for change in given)


def _refuse_git_names(change: Change) -> Change:
    if change.refused or change.new is None:
        return change
    if any(is_git_name(part) for part in change.path.split("/")):
        return replace(change, refused="some file systems take a part of its name for .git")
    return change


def _refuse_twin(change: Change, staying: dict[str, set[str]], fold: Fold) -> Change:
    if change.refused or change.new is None:
        return change
    for path in _with_above(change.path):
        if others := staying[fold(path)] - {path}:
            other = min(others)
            why = f"on this file system it is the same name as {other!r}"
            return replace(change, refused=why)
    return change


def _with_above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def fold_of(host: Tree) -> Fold | None:
    """Return how the host folds names, by a look at names that are there; None where not at all.

    Nothing is written: a name in other letters that leads to the same inode says enough.
    """
    with os.scandir(host.fd) as entries:
        names = [entry.name for _, entry in zip(range(_MOST_LOOKED_AT), entries, strict=False)]
    for other, fold in ((str.swapcase, ignoring_case), (_recomposed, _normal)):
        if any(_same(host, name, other(name)) for name in names):
            return fold
    return None


def _same(host: Tree, name: str, other: str) -> bool:
    if name == other:
        return False
    mine, theirs = host.lstat(name), host.lstat(other)
    if mine is None or theirs is None:
        return False
    # A file with more links may well have both names.
    alone = stat.S_ISDIR(mine.st_mode) or mine.st_nlink == 1
    return alone and (mine.st_ino, mine.st_dev) == (theirs.st_ino, theirs.st_dev)


def ignoring_case(text: str) -> str:
    """Return the one name that all with the same letters have on such a file system."""
    return unicodedata.normalize("NFC", text).casefold()


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _recomposed(name: str) -> str:
    """Return the same name written in the other of the two usual forms."""
    composed = unicodedata.normalize("NFC", name)
    return unicodedata.normalize("NFD", name) if name == composed else composed
