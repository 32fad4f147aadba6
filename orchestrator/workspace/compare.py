"""Two pictures of a tree become a list of changes. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from orchestrator.workspace.node import PERMISSIONS, Change, Kind, Node


def compare(base: Mapping[str, Node], box: Mapping[str, Node]) -> list[Change]:
    """Return what must happen to ``base`` to make it ``box``, sorted by path.

    A new directory is listed only when nothing is in it: the others come with their files.
    """
    filled = {path.rpartition("/")[0] for path in box}
    changes = []
    for path in sorted({*base, *box}):
        old, new = base.get(path), box.get(path)
        kind = _kind(old, new)
        if kind is None:
            continue
        if kind == "added" and new is not None and new.type == "directory" and path in filled:
            continue
        changes.append(Change(path, kind, old, new))
    return _with_renames(changes)


def _kind(old: Node | None, new: Node | None) -> Kind | None:
    if new is None:
        return "deleted"
    if old is None:
        return "added"
    if old.type != new.type:
        return "type"
    if _content(old) != _content(new) or new.trouble:
        return "modified"
    same_mode = old.mode & PERMISSIONS == new.mode & PERMISSIONS
    return None if same_mode or new.type == "symlink" else "mode"


def _content(node: Node) -> tuple[int, str, str]:
    return node.size, node.sha256, node.target


def _with_renames(changes: list[Change]) -> list[Change]:
    """Pair deletions and additions of equal, non-empty files, a kept name first."""
    gone: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if change.kind == "deleted" and change.old and change.old.sha256 and change.old.size:
            gone[change.old.sha256].append(change)
    pairs: dict[str, str] = {}
    for change in changes:
        if change.kind == "added" and change.new and (twins := gone.get(change.new.sha256)):
            name = change.path.rpartition("/")[2]
            twin = next((t for t in twins if t.path.rpartition("/")[2] == name), twins[0])
            twins.remove(twin)
            pairs[change.path] = twin.path
    back = {old: new for new, old in pairs.items()}
    return [
        replace(
            change,
            renamed_from=pairs.get(change.path, "") if change.kind == "added" else "",
            renamed_to=back.get(change.path, "") if change.kind == "deleted" else "",
        )
        for change in changes
    ]
