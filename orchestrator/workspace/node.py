"""What one name in a tree is, and how a box's tree differs from its base. Data, no I/O."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from orchestrator.schema.ids import SessionId
from orchestrator.workspace.merge3 import Overlap

NodeType = Literal["file", "directory", "symlink", "fifo", "socket", "device"]

Kind = Literal["added", "modified", "deleted", "mode", "type"]

WorkspaceMode = Literal["overlay", "copy", "bind", "none"]

PERMISSIONS = 0o777
"""What of a mode may reach the host: never set-user-id, set-group-id or sticky."""


@dataclass(frozen=True, slots=True)
class Node:
    """One name's content as far as it matters here; ``sha256`` only of files, once read."""

    type: NodeType
    mode: int
    """Permission bits, the upper three included."""
    size: int = 0
    sha256: str = ""
    """Lower-case hex."""
    target: str = ""
    """Where a symlink points, as stored."""
    binary: bool = False
    links: int = 1
    trouble: str = ""
    """Why the content cannot be had; empty where it can."""


@dataclass(frozen=True, slots=True)
class Signature:
    """One host file at one moment; any write to it changes one of these."""

    inode: int
    mode: int
    """The whole mode, type included."""
    size: int
    mtime_ns: int
    ctime_ns: int

    def survived_rename(self, later: Signature) -> bool:
        """True where ``later`` is the same file with the same content, moved at most."""
        return replace(later, ctime_ns=self.ctime_ns) == self


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between the host's directory and the box's, judged."""

    path: str
    """Relative to the workspace, raw: escape it before a terminal sees it."""
    kind: Kind
    old: Node | None
    new: Node | None
    renamed_from: str = ""
    """On an addition: the deleted path with the same content."""
    renamed_to: str = ""
    """On a deletion: the added path with the same content."""
    protected: bool = False
    """Policy protects the path: applied only on an explicit yes."""
    runs_on_host: str = ""
    """What on the host would run it or obey it; empty for plain files."""
    refused: str = ""
    """Why it is never applied."""
    conflict: str = ""
    """Why applying it would lose something that is on the host now."""
    notes: tuple[str, ...] = ()
    """What will be left out when it is applied."""
    seen: Signature | None = None
    """The host's name as it was when this was judged; None where there was none."""
    merged: str = ""
    """How the host's newer work and the box's came together in ``new``; else empty."""
    overlaps: tuple[Overlap, ...] = ()
    """Of a conflict: the places that both sides changed, where that is known."""
    ignored: bool = False
    """Git on the host would not take notice of it."""
    partial: bool = False
    """``new`` has only some of the box's hunks."""
    box: Node | None = None
    """What the box has, where ``new`` is made of it and is not it."""


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Everything a box changed in its workspace; sorted by path."""

    session: SessionId
    mode: WorkspaceMode
    directory: str
    """The host's directory, absolute, links resolved."""
    changes: tuple[Change, ...] = ()
    inside_git: int = 0
    """Files changed inside ``.git``; they stay in the box."""
    notes: tuple[str, ...] = ()
    """Findings about the whole, one line each, raw."""
    moved_repositories: tuple[str, ...] = ()
    """Directories, ``""`` for the top, of repositories in which the box moved a branch or HEAD."""
    rest: str = ""
    """Stays the same while nothing can have written to the box's files; empty where that is unknown
    or looking again is cheap."""

    def __bool__(self) -> bool:
        """True where there is anything to show."""
        return bool(self.changes or self.inside_git)

    @property
    def conflicts(self) -> tuple[Change, ...]:
        """The changes that would overwrite newer work on the host."""
        return tuple(change for change in self.changes if change.conflict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an apply left on the host, as far as it is the new base of the session."""

    now: Mapping[str, Node | None]
    """What each path is, None where it is gone."""
    partial: frozenset[str] = frozenset()
    """Of these paths, the box still has more."""
    merged: Mapping[str, Node] = field(default_factory=dict)
    """What the box has, where the host's newer work was merged with it."""


def outcome_of(changes: Iterable[Change]) -> Outcome:
    """Return what is so once the changes are applied.

    Some hunks of a merge are no new base: the next look merges the rest from the old one.
    """
    settled = [change for change in changes if not (change.partial and change.merged)]
    return Outcome(
        now={change.path: change.new for change in settled},
        partial=frozenset(change.path for change in settled if change.partial),
        merged={c.path: c.box for c in settled if c.merged and c.box is not None},
    )


_HEADER_BYTES = 8192
"""What one name may cost in an archive."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a box may hand back: the guard against bombs."""

    entries: int = 200_000
    """Names; beyond it, new ones are left in the box."""
    bytes: int = 10 * 1024**3
    """All contents together; beyond it, the largest or the last are left in the box."""
    file_bytes: int = 4 * 1024**3
    depth: int = 128
    """Components of a path."""
    path_bytes: int = 4000
    """Below PATH_MAX, so that every path can be opened in one call."""

    def archive_bytes(self, known: int) -> int:
        """Return how long an archive of a box may be, of which ``known`` bytes went in at the start.

        More than the limits, so that what is too much is passed over and the rest still read.
        """
        return known + 4 * self.bytes + self.entries * _HEADER_BYTES

    def may_enter(self, directory: str) -> bool:
        """True where whatever is in the directory can still be named."""
        depth = directory.count("/") + 1
        longest_name = 256
        return depth < self.depth and len(os.fsencode(directory)) + longest_name < self.path_bytes

    @property
    def too_deep(self) -> str:
        """What is said of a directory that may not be entered."""
        return f"it is nested deeper than {self.depth} directories"

    def too_large(self, count: int) -> str:
        """Return what is said of each of ``count`` files that are left for their contents' size."""
        which = "it is" if count == 1 else f"it is one of {count} files that are"
        return f"{which} left in the box: all changed contents are more than {self.bytes} bytes"

    def too_many(self, count: int) -> str:
        """Return what is said of one of ``count`` new names that are left for their number."""
        return (
            f"it is one of {count} new names in its directory that are left in the box: with them "
            f"there are more than {self.entries}"
        )

    @property
    def too_many_removed(self) -> str:
        """What is said of a directory whose removal is left in the box."""
        return (
            f"the box removed what was in it, which is more than {self.entries} names with the "
            "other changes; remove it yourself"
        )

    def may_name(self, path: str) -> bool:
        """True where a path is not nested too deep to be looked at."""
        above = path.rpartition("/")[0]
        return not above or self.may_enter(above)


@dataclass(frozen=True, slots=True)
class Observed:
    """Two pictures of the touched paths: the base, and what the box made of it."""

    base: Mapping[str, Node]
    box: Mapping[str, Node]
    inside_git: int = 0
    git_settings: tuple[str, ...] = ()
    """Settings in a ``.git/config`` of the box that would run a command."""
    moved_repositories: frozenset[str] = frozenset()
    """Directories of repositories whose branches or HEAD the box wrote to."""
    copied_up: frozenset[str] = frozenset()
    """Paths that stood on the host when the box first wrote to them."""
    kept: frozenset[str] = frozenset()
    """Host directories that hold something the box never saw: they stay."""


def node_type(mode: int) -> NodeType:
    """Return the type in a stat's mode."""
    kinds: dict[int, NodeType] = {
        stat.S_IFREG: "file",
        stat.S_IFDIR: "directory",
        stat.S_IFLNK: "symlink",
        stat.S_IFIFO: "fifo",
        stat.S_IFSOCK: "socket",
    }
    return kinds.get(stat.S_IFMT(mode), "device")


def signature(info: os.stat_result) -> Signature:
    """Return what identifies a file's state."""
    return Signature(info.st_ino, info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


def with_content(node: Node, *, sha256: str, binary: bool) -> Node:
    """Return the node with what a reading of its content showed."""
    return replace(node, sha256=sha256, binary=binary)


def fingerprint(node: Node) -> str:
    """Return a text equal only for equal content; empty where a file's was not read."""
    if node.type == "file":
        return node.sha256
    return f"{node.type}:{node.target}"


def is_git_internal(path: str) -> bool:
    """True for a ``.git`` of any depth and case, and for everything below one."""
    lower = path.lower()
    # Asked of every name of a tree, and true of few.
    return ".git" in lower and ".git" in lower.split("/")


def encode_change(change: Change) -> dict[str, Any]:
    """Return the change as JSON data; empty fields are left out."""
    data: dict[str, Any] = {"path": change.path, "kind": change.kind}
    for side, node in (("old", change.old), ("new", change.new)):
        if node is not None:
            data[side] = {"type": node.type, "mode": f"{node.mode:04o}", "size": node.size}
            data[side] |= {"target": node.target} if node.type == "symlink" else {}
            data[side] |= {"binary": True} if node.binary else {}
    words = (
        "renamed_from", "renamed_to", "protected", "runs_on_host", "refused", "conflict", "merged",
        "ignored",
    )  # fmt: skip
    data |= {word: getattr(change, word) for word in words if getattr(change, word)}
    data |= {"partial": True} if change.partial else {}
    if change.overlaps:
        data["overlaps"] = [
            {"line": place.line, "ours": "".join(place.ours), "theirs": "".join(place.theirs)}
            for place in change.overlaps
        ]
    return data | ({"notes": list(change.notes)} if change.notes else {})
