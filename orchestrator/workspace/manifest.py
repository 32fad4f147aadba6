"""What a copy began with: one line a name, so that later both sides can be compared with it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.contents import plain_node, read_node
from orchestrator.workspace.node import PERMISSIONS, Change, Node, Signature, signature
from orchestrator.workspace.tree import Tree

NEVER_SEEN = Signature(0, 0, 0, 0, 0)
"""Of an original that the host does not have as it is; only its content can be compared."""

_END = '"end"\n'
"""Line after everything that was written in one go; no other line ends so."""


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
            file.write(_line(item.path, item))
        file.write(_END)
    temporary.replace(path)


def update_manifest(path: Path, now: Mapping[str, Original | None]) -> None:
    """Add what became of some paths, None for those that are gone; on disk on return.

    Takes as long as there are paths, however many the manifest has. All of it counts or nothing:
    what is behind the last end mark was cut off, and is taken for not written.
    """
    with path.open("r+b") as file:
        whole = file.seek(0, os.SEEK_END)
        file.seek(max(0, whole - len(_END)))
        if file.read() != _END.encode():
            # Not the end of an update: the next one must not make it one.
            save_manifest(path, load_manifest(path).values())
            update_manifest(path, now)
            return
        lines = "".join(_line(name, item) for name, item in now.items())
        file.write((lines + _END).encode("ascii"))
        file.flush()
        os.fsync(file.fileno())


def _line(path: str, item: Original | None) -> str:
    seen = item and node_fields(item.seen)
    return json.dumps({"path": path, "node": item and node_fields(item.node), "seen": seen}) + "\n"


def node_fields(item: Node | Signature) -> dict[str, object]:
    """Return the fields by name, for JSON."""
    # Not asdict: it copies every value, which for a large tree takes longer than the writing.
    return {name: getattr(item, name) for name in item.__slots__}


def load_manifest(path: Path) -> dict[str, Original]:
    """Return the originals by path; WorkspaceError when the file is missing or cut."""
    found: dict[str, Original] = {}
    try:
        text = path.read_text("ascii")
        ended = text.rfind(_END)
        for line in text[: max(ended, 0)].splitlines():
            data = json.loads(line)
            if data == "end":
                continue
            if data["node"] is None:
                found.pop(data["path"], None)
                continue
            item = Original(data["path"], Node(**data["node"]), Signature(**data["seen"]))
            found[item.path] = item
    except (OSError, ValueError, TypeError, KeyError) as err:
        raise WorkspaceError(
            f"{path}: the record of the copied files cannot be read: {err}"
        ) from err
    if ended < 0:
        raise WorkspaceError(f"{path}: the record of the copied files is cut short")
    return found
