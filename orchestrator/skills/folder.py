"""Reading a folder of skills from the host, once, without following links out of it.

A project's folder may be changed by the box while it is read: every step is taken from the opened
directory above, and no link is followed. What is the user's own may be linked to.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.skills.skill import SkillFile

MAIN = "SKILL.md"
MAX_DEPTH = 4
"""Folders between a root and a skill."""
MAX_FILES = 256
MAX_BYTES = 4 * 1024 * 1024
"""Of all files of one skill."""
MAX_SKILLS = 256
SKIPPED = frozenset({"node_modules", "__pycache__"})


class FolderError(Exception):
    """Raised for what cannot be read as a skill; the message says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """A folder with a SKILL.md."""

    path: Path
    files: tuple[SkillFile, ...] = ()
    problem: str = ""
    """Why it cannot be used."""


def find_folders(root: Path, *, links: bool) -> Iterator[Found]:
    """Yield the skills below a root, in the order of their names; a root that lacks has none.

    Raises FolderError for a root that is there and cannot be read.
    """
    found: list[Found] = []
    try:
        walk = os.fwalk(root, follow_symlinks=links, onerror=_raise)
        for place, folders, files, handle in walk:
            path = Path(place)
            depth = len(path.relative_to(root).parts)
            if depth == 0 and not links and root.is_symlink():
                raise FolderError(
                    "it is a symbolic link, and a project's skills are files of its own"
                )
            folders[:] = (
                sorted(name for name in folders if _is_seen(name)) if depth < MAX_DEPTH else []
            )
            if MAIN in files and depth:
                folders[:] = []
                found.append(_read(path, handle, links=links))
                if len(found) > MAX_SKILLS:
                    raise FolderError(f"more than {MAX_SKILLS} skills")
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise FolderError("expected a folder") from None
    except OSError as err:
        raise FolderError(f"cannot be read: {err.strerror}") from err
    yield from found


def _raise(error: OSError) -> None:
    raise error


def _is_seen(name: str) -> bool:
    return not name.startswith(".") and name not in SKIPPED


def _read(path: Path, handle: int, *, links: bool) -> Found:
    try:
        return Found(path, tuple(sorted(_files(handle, links=links), key=lambda file: file.path)))
    except (FolderError, OSError) as err:
        return Found(
            path,
            problem=str(err) if isinstance(err, FolderError) else f"cannot be read: {err.strerror}",
        )


def _files(handle: int, *, links: bool) -> Iterator[SkillFile]:
    total = count = 0
    for place, folders, files, inner in os.fwalk(
        ".", dir_fd=handle, follow_symlinks=links, onerror=_raise
    ):
        folders[:] = sorted(name for name in folders if _is_seen(name))
        for name in sorted(filter(_is_seen, files)):
            shown = f"{place}/{name}".removeprefix("./")
            file = _file(name, inner, shown, links=links)
            count, total = count + 1, total + len(file.data)
            if count > MAX_FILES or total > MAX_BYTES:
                raise FolderError(
                    f"expected at most {MAX_FILES} files and {MAX_BYTES} bytes, got more"
                )
            yield file


def _file(name: str, handle: int, shown: str, *, links: bool) -> SkillFile:
    if not shown.isprintable():
        raise FolderError(f"{shown!a}: expected a file name without control characters")
    follow = 0 if links else os.O_NOFOLLOW
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | follow, dir_fd=handle)
    except OSError as err:
        raise FolderError(f"{shown}: cannot be read: {err.strerror}") from err
    with os.fdopen(opened, "rb") as stream:
        info = os.fstat(stream.fileno())
        if not stat.S_ISREG(info.st_mode):
            raise FolderError(f"{shown}: expected a regular file")
        data = stream.read(MAX_BYTES + 1)
    return SkillFile(shown, data, executable=bool(info.st_mode & stat.S_IXUSR))
