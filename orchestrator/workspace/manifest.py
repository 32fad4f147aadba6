"""What a copy began with: one line a name, so that later both sides can be compared with it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.contents import plain_node, read_node
from orchestrator.workspace.node import PERMISSIONS, Change, Node, Signature, signature
from orchestrator.workspace.tree import Tree

NEVER_SEEN = Signature(0, 0, 0, 0, 0)
"""Of an original that the host does not have as it is; only its content can be compared."""


@dataclass(frozen=True, slots=True)
class Original:
    """One name as it went into the box."""

    path: str
    node: Node
    seen: Signature


@dataclass(frozen=True, slots=True)
class Manifest:
    """The baseline of a copy; what the session applied is in it as if it had gone in."""

    originals: Mapping[str, Original]

    def unchanged(self, change: Change, tree: Tree) -> bool:
        """Believe an equal inode state, else compare type, mode and content."""
        info = tree.lstat(change.path)
        if info is None:
            return False
        original = self.originals.get(change.path)
        if original is not None and signature(info) == original.seen:
            return True
        now = plain_node(tree, change.path, info)
        if now.type == "file":
            now = read_node(tree, change.path, now)
        return original is not None and _same(now, original.node)

    def stood_at_start(self, path: str) -> bool:
        """Everything that stood there is listed."""
        return path in self.originals


def _same(now: Node, then: Node) -> bool:
    if now.type == "directory":
        return then.type == "directory"
    mine = (now.type, now.mode & PERMISSIONS, now.sha256, now.target)
    return mine == (then.type, then.mode & PERMISSIONS, then.sha256, then.target)


def save_manifest(path: Path, originals: Iterable[Original]) -> None:
    """Write one JSON line an original, and replace the manifest in one step."""
    temporary = path.with_suffix(".new")
    with temporary.open("w", encoding="ascii") as file:
        for item in originals:
            line = {"path": item.path, "node": _fields(item.node), "seen": _fields(item.seen)}
            file.write(json.dumps(line) + "\n")
        file.write('"end"\n')
    temporary.replace(path)


def _fields(item: Node | Signature) -> dict[str, object]:
    # Not asdict: it copies every value, which for a large tree takes longer than the writing.
    return {name: getattr(item, name) for name in item.__slots__}


def load_manifest(path: Path) -> dict[str, Original]:
    """Return the originals by path; WorkspaceError when the file is missing or cut."""
    found: dict[str, Original] = {}
    ended = False
    try:
        with path.open(encoding="ascii") as file:
            for line in file:
                data = json.loads(line)
                if data == "end":
                    ended = True
                    break
                item = Original(data["path"], Node(**data["node"]), Signature(**data["seen"]))
                found[item.path] = item
    except (OSError, ValueError, TypeError, KeyError) as err:
        raise WorkspaceError(
            f"{path}: the record of the copied files cannot be read: {err}"
        ) from err
    if not ended:
        raise WorkspaceError(f"{path}: the record of the copied files is cut short")
    return found
