"""Finding what a project tells agents: AGENTS.md and its kin, from the repository's root to the directory.

Read once, on the host, before a box could write there. All of it is untrusted: see ``frame``.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.prompts.beneath import read_beneath
from orchestrator.prompts.frame import ProjectFile

NAMES = ("AGENTS.override.md", "AGENTS.md", "CLAUDE.md")
"""The first that a directory has is read, and the others of it are not."""
MOST_BYTES = 32 * 1024
"""Of one file; the rest is left out, and that is said."""
MOST_TOTAL = 64 * 1024
"""Of all; the nearest come first."""
CUT = "\n[… the rest is too long and was left out]"
DEEPEST = 4
MOST_FOLDERS = 500
"""Looked into for deeper files; a session does not wait for a walk through a whole disk."""
MOST_NESTED = 20
SKIPPED = frozenset({"node_modules", "vendor", "target", "dist", "build", "__pycache__", "venv"})


@dataclass(frozen=True, slots=True)
class Found:
    """What was found."""

    files: tuple[ProjectFile, ...]
    """The farthest first, so that the nearest is read last and holds."""
    nested: tuple[str, ...] = ()
    """Paths of files of the same kind below the directory, which are not read."""
    notes: tuple[str, ...] = ()
    """Why something was left out, for the person."""


def find_files(
    directories: Sequence[Path], *, may_read: Callable[[str], bool] = lambda _: True
) -> Found:
    """Return the files of these directories, the nearest directory first.

    ``may_read`` says of a path, relative to the nearest, whether policy shows it to the model.
    """
    files: list[ProjectFile] = []
    notes: list[str] = []
    room = MOST_TOTAL
    for distance, directory in enumerate(directories):
        for name in NAMES:
            path = "../" * distance + name
            try:
                data = read_beneath(directory, name, limit=MOST_BYTES)
            except OSError as err:
                notes.append(f"{directory / name}: left out of the prompt: {err.strerror}")
                continue
            if data is None:
                continue
            if not may_read(path):
                notes.append(f"{directory / name}: left out of the prompt: policy hides it")
            elif b"\0" in data:
                notes.append(f"{directory / name}: left out of the prompt: it is no text")
            elif room <= 0:
                notes.append(f"{directory / name}: left out of the prompt: the nearer ones fill it")
            else:
                text, is_cut = _text(data, min(room, MOST_BYTES))
                room -= len(data)
                if is_cut:
                    notes.append(
                        f"{directory / name}: too long for the prompt; its end is left out"
                    )
                files.append(ProjectFile(path, text, str(directory / name)))
            break
    nested = tuple(path for path in _nested(directories[0]) if may_read(path))
    return Found(tuple(reversed(files)), nested, tuple(notes))


def _text(data: bytes, limit: int) -> tuple[str, bool]:
    """Return the text, whole lines up to ``limit`` bytes, and whether something was left out."""
    if len(data) <= limit:
        return data.decode("utf-8-sig", "replace"), False
    lines, newline, torn = data[:limit].rpartition(b"\n")
    return (lines if newline else torn).decode("utf-8-sig", "replace") + CUT, True


def _nested(directory: Path) -> Iterator[str]:
    """Yield the paths of such files in folders below, the shallow ones first."""
    waiting, looked, told = deque([("", 0)]), 0, 0
    while waiting and looked < MOST_FOLDERS:
        folder, depth = waiting.popleft()
        looked += 1
        names, folders = _entries(directory / folder)
        found = next((name for name in NAMES if name in names), None)
        if folder and found:
            yield f"{folder}/{found}"
            told += 1
            if told == MOST_NESTED:
                return
        if depth < DEEPEST:
            waiting.extend((f"{folder}/{name}" if folder else name, depth + 1) for name in folders)


def _entries(path: Path) -> tuple[set[str], list[str]]:
    """Return the names of regular files, and of folders worth looking into; no link is followed."""
    names: set[str] = set()
    folders: list[str] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    names.add(entry.name)
                elif entry.is_dir(follow_symlinks=False) and _is_worth(entry):
                    folders.append(entry.name)
    except OSError:
        # Not ours to read, or gone: the model finds what is there by itself.
        return set(), []
    return names, sorted(folders)


def _is_worth(entry: os.DirEntry[str]) -> bool:
    """Say whether a folder belongs to the project: a repository in it is another's."""
    own = not (entry.name.startswith(".") or entry.name in SKIPPED)
    return own and not os.path.lexists(Path(entry.path) / ".git")
