"""Deletes: what is lost, and whether anyone could tell from the command."""

from __future__ import annotations

import posixpath
import re

from orchestrator.shell import places
from orchestrator.shell.analysis import Span, Word
from orchestrator.shell.quoting import DYNAMIC
from orchestrator.shell.setting import Site

_OPEN_END = re.compile(r"(/|\*|/\.{1,2})$")
"""What stands behind a path whose whole content is meant."""
_HINT = "name single files of the workspace, or move them aside instead"


def judge_delete(word: Word, site: Site, *, tree: bool, grave: bool = False) -> None:
    """Report the loss of a tree, of unseen targets, or of anything outside the workspace.

    ``grave`` says that what cannot be seen may come to far more than is meant.
    """
    delete_path(word.shape, word.span, site, tree=tree, glob=word.glob, grave=grave)


def delete_path(
    shape: str,
    span: Span,
    site: Site,
    *,
    tree: bool,
    glob: bool = False,
    grave: bool = False,
) -> None:
    """The same for a path from nested code."""
    scope, reading = site.scope, site.reading
    path = scope.absolute(shape)
    if path is not None and (places.kind_of(path) == "harmless" or scope.is_fresh(path)):
        # A fresh path was made by this very command: nothing in it was there before.
        return
    if path is not None and DYNAMIC not in path and not glob:
        reading.deletes.setdefault((path, span))
    if path is not None and tree:
        reading.trees.setdefault((path, span))
    severity = "ask"
    if path is None or DYNAMIC in path:
        reason = f"deletes what cannot be seen in the command: {_shown(shape)}"
        known_root = path is not None and places.is_root_or_home(_without_dynamic(path), scope)
        if known_root or grave:
            severity = "high"
    elif places.is_root_or_home(path, scope) or path == scope.places.workspace:
        reason, severity = f"deletes the system, a home or the whole workspace: {shape}", "high"
    elif scope.is_fresh(posixpath.dirname(path)):
        reason = f"deletes from the root where mktemp fails: {shape}"
    elif not scope.inside(path):
        reason, severity = f"deletes outside the workspace: {shape}", "high"
    elif places.kind_of(path) == "git":
        reason, severity = f"deletes from .git: {shape}", "high"
    elif tree:
        reason = f"deletes a whole tree: {shape}"
    elif glob:
        reason = f"deletes whatever matches: {shape}"
    else:
        return
    reading.report(
        "destructive", reason, span, severity="high" if severity == "high" else "ask", hint=_HINT
    )


def empties_root(shape: str) -> bool:
    """Say whether all of the root, or of a system directory, is meant when the variable is empty.

    ``"$X"/`` and ``$X/*`` are such, ``"$X"`` and ``"$X"/build`` are not.
    """
    if not shape.startswith(DYNAMIC) or _OPEN_END.search(shape) is None:
        return False
    left = shape.replace(DYNAMIC, "")
    path = "/" + posixpath.normpath(left).strip("/")
    return left.startswith("/") and (path in {"/", "/*"} or places.kind_of(path) == "system")


def _shown(shape: str) -> str:
    return shape.replace(DYNAMIC, "…")


def _without_dynamic(path: str) -> str:
    """Return the directory that is left when what is not static turns out empty."""
    return posixpath.normpath("/" + path.split(DYNAMIC, 1)[0].lstrip("/"))
