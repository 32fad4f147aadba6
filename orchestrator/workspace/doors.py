"""Doors to the host in a directory that a box sees live: sockets, pipes and device nodes.

Whoever reaches such a name reaches the process or device behind it, through a read-only mount as
well: rights to write a file system do not matter to them. So each is covered by a mount, as hidden
files are; ``late_doors`` tells of those that came too late for that.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.schema.mount import Mount
from orchestrator.workspace.covers import cover, cover_mount
from orchestrator.workspace.tree import Tree

MOST_DOORS = 64
"""Covers of one directory. Each is a mount that every start waits for, and the box's probe reads
back a few hundred mounts."""

_KINDS = {
    stat.S_IFSOCK: "socket",
    stat.S_IFIFO: "pipe",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}
_CLOSED = "directory that cannot be looked into"
_WHITEOUT = os.makedev(0, 0)
"""No device at all: what an overlay leaves in its layers for a deleted file."""
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
_UNSEEN = {errno.EACCES, errno.EPERM, errno.ENAMETOOLONG}
_MOST_NAMED = 5
_LONGEST = 3000
"""Bytes. A path of the kernel has at most 4096, and the engine's own beginning counts."""


@dataclass(frozen=True, slots=True)
class Door:
    """One name that leads to something of the host."""

    path: str
    kind: str
    """In words, for the person."""
    identity: str
    """The same while the name stands for the same thing, another for one made anew."""

    @property
    def is_directory(self) -> bool:
        """True for a directory in which there may be doors that cannot be seen."""
        return self.kind == _CLOSED


def find_doors(tree: Tree, *, closed: Container[str] = ()) -> list[Door]:
    """Return a tree's doors, sorted; directories in ``closed`` are not entered.

    A directory that this process may not list counts as one: its owner in the box may open it,
    and whoever may enter it needs no list.
    """
    found: list[Door] = []
    waiting = [""]
    while waiting:
        directory = waiting.pop()
        try:
            inner, others = _names(tree, directory)
        except OSError as err:
            if err.errno in _UNSEEN and directory:
                found.append(Door(directory, _CLOSED, ""))
            elif err.errno not in _GONE:
                raise
            continue
        waiting += [path for path in inner if path not in closed]
        found += [door for path in others if (door := _door(tree, path)) is not None]
    return sorted(found, key=lambda door: door.path)


def check_doors(doors: Sequence[Door], *, named: str, hint: str) -> None:
    """Raise WorkspaceError where there are more than are covered, or one that no mount can cover."""
    if len(doors) > MOST_DOORS:
        raise WorkspaceError(
            f"{named}: {len(doors)} sockets, pipes and devices lead to the host from it, and at "
            f"most {MOST_DOORS} are covered: {_some(doors)}",
            hint=f"{hint}; or remove those that nothing uses any more",
        )
    for door in doors:
        length = len(os.fsencode(door.path))
        if length > _LONGEST:
            top = door.path.partition("/")[0]
            raise WorkspaceError(
                f"{named}: a {door.kind} below {top!r} has a path of {length} bytes, and one of "
                f"more than {_LONGEST} cannot be covered",
                hint=f"{hint}; or remove it, as an agent may have made it in bind mode",
            )


def door_covers(doors: Sequence[Door], target: str, folder: Path) -> list[Mount]:
    """Return the mounts that cover doors of a directory which the box has at ``target``."""
    return [
        cover_mount(cover(folder, is_directory=door.is_directory), target, door.path)
        for door in doors
    ]


def door_notice(doors: Sequence[Door], named: str) -> tuple[str, ...]:
    """Return what the person is told at the start, in one line; nothing where there is no door."""
    if not doors:
        return ()
    return (f"{named}: covered, so that the box cannot reach your side by it: {_some(doors)}",)


def _names(tree: Tree, directory: str) -> tuple[list[str], list[str]]:
    """Return the paths of directories, and of what is neither directory, file nor link."""
    prefix = f"{directory}/" if directory else ""
    inner, others = [], []
    with tree.directory(directory) as fd, os.scandir(fd) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner.append(prefix + entry.name)
            elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
                others.append(prefix + entry.name)
    return inner, others


def _door(tree: Tree, path: str) -> Door | None:
    info = tree.lstat(path)
    kind = _KINDS.get(stat.S_IFMT(info.st_mode)) if info is not None else None
    if info is None or kind is None or (kind == "device" and info.st_rdev == _WHITEOUT):
        return None
    handle = tree.handle(path)
    # A handle tells a new file from an old one of the same number, where the file system has any.
    identity = f"{handle[0]}:{handle[1].hex()}" if handle else ""
    return Door(path, kind, f"{info.st_dev}:{info.st_ino}:{identity}")


def _some(doors: Sequence[Door]) -> str:
    return ", ".join(_named(doors))


def _named(doors: Sequence[Door]) -> Iterator[str]:
    yield from (f"{door.path!r} ({door.kind})" for door in doors[:_MOST_NAMED])
    if len(doors) > _MOST_NAMED:
        yield f"and {len(doors) - _MOST_NAMED} more"
