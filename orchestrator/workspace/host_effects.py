"""Which files something on the host runs or obeys without being asked twice.

The table is data: ``review_flags.yaml`` beside this file.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

import yaml

from orchestrator.workspace.globs import PathGlobs, path_globs
from orchestrator.workspace.node import Change, Node

FLAGS = Path(__file__).with_name("review_flags.yaml")
NEWLY_EXECUTABLE = "newly executable"
_OWNER, _ANYBODY = 0o100, 0o111

Effects = tuple[tuple[str, PathGlobs], ...]
"""Reasons with their patterns; the first that matches counts."""


def effects_table(hook_directories: Iterable[str]) -> Effects:
    """Return the table, the repository's own hook directories first."""
    own = tuple(f"{path.strip('/')}/**" for path in hook_directories)
    return (("git hook", path_globs(own)), *shipped_table()) if own else shipped_table()


@functools.cache
def shipped_table() -> Effects:
    """Return the table that ships with the package."""
    entries = yaml.safe_load(FLAGS.read_text("utf-8"))
    return tuple((entry["why"], path_globs(entry["files"])) for entry in entries)


def effect_on_host(path: str, table: Iterable[tuple[str, PathGlobs]]) -> str:
    """Return what on the host would run or obey the file, or an empty text."""
    return next((word for word, globs in table if globs.match(path)), "")


def gained_execution(change: Change, moved: Node | None = None) -> str:
    """Return the reason where a file can be started now and could not before, by whom it is asked.

    ``moved`` is the file of the same content that a rename took away. More bits for others than
    the owner had, as another umask gives them, are no gain.
    """
    new, old = change.new, change.old or moved
    if new is None or new.type != "file":
        return ""
    before = old.mode if old is not None and old.type == "file" else 0
    gained = any(new.mode & who and not before & who for who in (_OWNER, _ANYBODY))
    return NEWLY_EXECUTABLE if gained else ""
