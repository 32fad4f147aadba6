"""Says which scripts of a package file changed, beside the flag that it has some."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from orchestrator.workspace.derived import box_text, host_text
from orchestrator.workspace.node import Change, ChangeSet
from orchestrator.workspace.staging import OpenContent
from orchestrator.workspace.tree import Tree, open_tree
from orchestrator.workspace.workspace import Workspace

_MOST = 5
"""Names told; more are a count."""

_LOADERS: dict[str, tuple[Callable[[str], Any], tuple[tuple[str, ...], ...]]] = {
    "package.json": (
        json.loads,
        (
            ("scripts",),
            ("bin",),
            ("gypfile",),
            ("packageManager",),
            ("lint-staged",),
            ("husky",),
            ("simple-git-hooks",),
            ("dependencies",),
            ("devDependencies",),
            ("optionalDependencies",),
            ("trustedDependencies",),
        ),
    ),
    "composer.json": (json.loads, (("scripts",), ("bin",), ("require",), ("require-dev",))),
    "pyproject.toml": (
        tomllib.loads,
        (
            ("build-system",),
            ("project", "dependencies"),
            ("project", "scripts"),
            ("tool", "hatch", "build", "hooks"),
            ("tool", "pdm", "scripts"),
            ("tool", "poe", "tasks"),
            ("tool", "taskipy", "tasks"),
        ),
    ),
}
"""By file name, how it is read and what in it is run or brings in what is run."""


def with_script_details(workspace: Workspace, changes: ChangeSet) -> ChangeSet:
    """Return the changes, those of package files with what in them changed."""
    if not any(_name(change) in _LOADERS for change in changes.changes):
        return changes
    with open_tree(Path(changes.directory)) as host, workspace.content() as content:
        found = tuple(
            _detailed(change, host, content) if _name(change) in _LOADERS else change
            for change in changes.changes
        )
    return replace(changes, changes=found)


def changed_scripts(name: str, old: str, new: str) -> list[str] | None:
    """Return the dotted names that changed; None where a text cannot be read as such a file."""
    load, places = _LOADERS[name]
    try:
        before, after = (load(text) if text else {} for text in (old, new))
    except (ValueError, RecursionError):
        return None
    return [found for place in places for found in _differences(place, before, after)]


def _differences(place: tuple[str, ...], before: Any, after: Any) -> Iterator[str]:
    old, new = _inside(before, place), _inside(after, place)
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
        yield from (".".join((*place, str(name))) for name in names)
    else:
        yield ".".join(place)


def _inside(data: Any, place: tuple[str, ...]) -> Any:
    for name in place:
        data = data.get(name, {}) if isinstance(data, Mapping) else {}
    return data


def _detailed(change: Change, host: Tree, content: OpenContent) -> Change:
    if not change.runs_on_host or change.new is None or change.new.type != "file":
        return change
    try:
        new = box_text(content, change)
        on_host = change.old is not None and change.old.type == "file"
        old = host_text(host, change.path, change.seen) if on_host else b""
    except OSError:
        # The flag stands without its detail.
        return change
    if new is None or old is None:
        return change
    texts = (data.decode("utf-8", "replace") for data in (old, new))
    names = changed_scripts(_name(change), *texts)
    if names is None:
        return replace(change, runs_on_host=f"{change.runs_on_host}; it cannot be parsed")
    if not names:
        return replace(change, runs_on_host=f"{change.runs_on_host}, unchanged in it")
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    told = ", ".join(names[:_MOST])
    return replace(change, runs_on_host=f"{change.runs_on_host}: {told}{more}")


def _name(change: Change) -> str:
    return change.path.rpartition("/")[2]
