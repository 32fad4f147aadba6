"""Whether anything can have written to a box's files since they were read.

Whoever starts a box notes a new word once it is up, before the first command in it. So who reads
the word, finds that no box runs, and later finds the same word again, knows that none wrote in
between. Without a word nothing is known.
"""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path

from orchestrator.engine.volumes import running_with
from orchestrator.errors import WorkspaceError
from orchestrator.workspace.workspace import Site

_WORD = "writer"
_FIRST = "first-"
"""What the word of a session's first box begins with."""
_STEP_S = 0.02


def note_writer(folder: Path) -> None:
    """Note that the files of a session are about to be written to; on disk on return.

    ``folder`` is the session's own in the state. Raises WorkspaceError where it cannot be noted.
    """
    temporary = folder / f"{_WORD}.new"
    word = secrets.token_hex(16)
    try:
        first = not (folder / _WORD).exists()
        with temporary.open("w", encoding="ascii") as file:
            file.write(f"{_FIRST}{word}" if first else word)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(folder / _WORD)
        _sync(folder)
    except OSError as err:
        raise WorkspaceError(
            f"{folder}: it cannot be noted that the box writes: {err.strerror}",
            hint="check the free space and your rights there",
        ) from err


def rest_word(site: Site) -> str:
    """Return a word that stays the same while nothing can write; empty where something may."""
    try:
        # Before the look at what runs: a box that comes up in between has another word.
        word = (site.folder / _WORD).read_text("ascii")
    except (FileNotFoundError, ValueError):
        return ""
    return "" if running_with(site.engine, site.record.volume) else word


def is_first_writer(folder: Path) -> bool:
    """Say whether the session's first box is the only one that ever came up."""
    try:
        return (folder / _WORD).read_text("ascii").startswith(_FIRST)
    except (FileNotFoundError, ValueError):
        return False


def await_rest(site: Site, *, patience_s: float = 1.0) -> None:
    """Give the engine time to notice that a box has ended, by the word of the box itself."""
    deadline = time.monotonic() + patience_s
    while running_with(site.engine, site.record.volume) and time.monotonic() < deadline:
        time.sleep(_STEP_S)


def _sync(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
