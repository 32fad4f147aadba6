"""Takes some hunks of a change; the rest stays in the box."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.errors import UsageError, WorkspaceError
from orchestrator.workspace.derived import box_text, derive, derived_spool, host_text, open_contents
from orchestrator.workspace.line_diff import (
    find_hunks,
    join_lines,
    pair_digest,
    split_lines,
    take_hunks,
)
from orchestrator.workspace.node import PERMISSIONS, Change
from orchestrator.workspace.tree import Tree, open_tree
from orchestrator.workspace.workspace import Workspace

_FORM = re.compile(r"(?P<path>.+):(?P<numbers>[0-9,-]+)(?:@(?P<digest>[0-9a-f]{12}))?", re.DOTALL)
_SHOWN = "shown.json"
_MOST = 100_000
"""Highest number of a hunk; a larger one is a slip of the finger."""


@dataclass(frozen=True, slots=True)
class HunkChoice:
    """Which hunks of one file, as they were shown."""

    numbers: frozenset[int]
    digest: str
    """Of the two contents that were shown; others have other hunks. Empty: as shown last."""


def parse_hunks(texts: Iterable[str]) -> dict[str, HunkChoice]:
    """Return choices by path from ``PATH:N[,N][-N][@DIGEST]``; UsageError for anything else."""
    found: dict[str, HunkChoice] = {}
    for text in texts:
        match = _FORM.fullmatch(text)
        if match is None or match["path"] in found:
            raise UsageError(
                f"--hunk {text!r}: expected PATH:N[,N][@DIGEST], once a file",
                hint="`glovebox diff --hunks` shows the numbers and the digest",
            )
        found[match["path"]] = HunkChoice(_numbers(match["numbers"], text), match["digest"] or "")
    return found


def take_portions(
    workspace: Workspace, changes: Iterable[Change], choices: Mapping[str, HunkChoice]
) -> tuple[Change, ...]:
    """Return the changes, those with a choice reduced to it.

    Raises WorkspaceError when a choice was made for other contents than there are now.
    """
    given = tuple(changes)
    if not choices:
        return given
    shown = _shown(workspace.site.folder)
    with open_tree(Path(workspace.site.record.directory)) as host:
        return tuple(
            _portion(workspace, host, change, _bound(change.path, choices[change.path], shown))
            if change.path in choices
            else change
            for change in given
        )


def note_shown(folder: Path, digests: Mapping[str, str]) -> None:
    """Remember what hunk numbers without a digest will mean."""
    temporary = folder / f"{_SHOWN}.new"
    temporary.write_text(json.dumps(dict(digests)), "ascii")
    temporary.replace(folder / _SHOWN)


def _shown(folder: Path) -> dict[str, str]:
    try:
        data = json.loads((folder / _SHOWN).read_text("ascii"))
    except (FileNotFoundError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _bound(path: str, choice: HunkChoice, shown: Mapping[str, str]) -> HunkChoice:
    if not choice.digest and path not in shown:
        raise WorkspaceError(
            f"{path!r}: its hunks were not shown yet, so their numbers mean nothing",
            hint="look at them with `glovebox diff --hunks`",
        )
    return replace(choice, digest=choice.digest or str(shown[path]))


def _portion(workspace: Workspace, host: Tree, change: Change, choice: HunkChoice) -> Change:
    if change.kind != "modified":
        raise WorkspaceError(
            f"{change.path!r}: it is {change.kind}, so it has no hunks to choose from",
            hint=f"take it whole: --path {change.path!r}",
        )
    with open_contents(workspace) as content:
        old, new = host_text(host, change.path, change.seen), box_text(content, change)
    if old is None or new is None:
        raise WorkspaceError(
            f"{change.path!r}: it is too large or no text, so it has no hunks to choose from",
            hint=f"take it whole: --path {change.path!r}",
        )
    if pair_digest(old, new) != choice.digest:
        raise WorkspaceError(
            f"{change.path!r}: its hunks are not those that were shown "
            f"(expected {choice.digest}, got {pair_digest(old, new)}); nothing was applied",
            hint="look again with `glovebox diff --hunks`",
        )
    before, after = split_lines(old), split_lines(new)
    known = {hunk.number for hunk in find_hunks(before, after)}
    if unknown := choice.numbers - known:
        raise WorkspaceError(
            f"{change.path!r}: it has {len(known)} hunks, not number {min(unknown)}",
            hint="look again with `glovebox diff --hunks`",
        )
    if choice.numbers == known:
        return change
    info = host.lstat(change.path)
    mode = stat.S_IMODE(info.st_mode) & PERMISSIONS if info is not None else 0
    data = join_lines(take_hunks(before, after, choice.numbers))
    reduced = derive(derived_spool(workspace.site.folder), change, data, mode=mode)
    return replace(reduced, partial=True)


def _numbers(text: str, whole: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        end = last if dash else first
        if not (first.isdigit() and end.isdigit()) or not 0 < int(first) <= int(end) <= _MOST:
            raise UsageError(
                f"--hunk {whole!r}: {part!r} is no number and no range",
                hint="write numbers as 1,3 or 2-4",
            )
        found.update(range(int(first), int(end) + 1))
    return frozenset(found)
