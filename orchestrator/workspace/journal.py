"""What an apply is about to do to the host, on disk before it does it.

With the staged contents beside it, a journal is enough to finish or undo an apply that died.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.node import Node, Outcome, Signature

JOURNAL = "apply.json"

Op = Literal["mkdir", "create", "replace", "remove", "rmdir", "chmod"]

Phase = Literal["staging", "committing", "undoing", "done"]
"""Before ``committing`` nothing on the host has changed; ``undoing`` has only the steps that are
still to be taken back; at ``done`` only rubbish is left."""


@dataclass(frozen=True, slots=True)
class Step:
    """One effect on one name; each can be repeated and undone."""

    op: Op
    path: str
    mode: int = 0
    """Permissions to set, 0 for the usual ones; of ``rmdir`` those to restore."""
    slot: str = ""
    """Name in the staging directory: first what is new, after the step what was there before."""
    staged: Signature | None = None
    """The staged content; an inode's number alone may be given to another file at once."""
    seen: Signature | None = None
    """What must be there for the step to be right."""


@dataclass(frozen=True, slots=True)
class Journal:
    """One apply."""

    directory: str
    """The host's directory."""
    inode: int
    staging: str
    """Name of the staging directory at its top."""
    owner: tuple[int, int] | None
    """Uid and gid of what is made anew, where the caller may choose."""
    phase: Phase
    steps: tuple[Step, ...] = ()
    outcome: Outcome | None = None
    """What the session takes as its new base once all steps are done."""
    swaps: bool = True
    """The file system swaps two names in one step; False where hard links stand in."""


def write_journal(folder: Path, journal: Journal) -> None:
    """Replace the journal; it is on the disk when this returns."""
    text = json.dumps(_plain(journal), default=_plain)
    temporary = folder / f"{JOURNAL}.new"
    with temporary.open("w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / JOURNAL)
    _sync_folder(folder)


def read_journal(folder: Path) -> Journal | None:
    """Return the journal, None where no apply was begun; WorkspaceError when it is broken."""
    path = folder / JOURNAL
    try:
        data = json.loads(path.read_text("ascii"))
        return _parse(data)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as err:
        raise WorkspaceError(
            f"{path}: the journal of an apply cannot be read: {err}",
            hint="look at the staging directory it speaks of before you remove either",
        ) from err


def drop_journal(folder: Path) -> None:
    """Forget a journal whose apply is finished or undone."""
    (folder / JOURNAL).unlink(missing_ok=True)
    _sync_folder(folder)


def in_phase(journal: Journal, phase: Phase) -> Journal:
    """Return the journal moved on."""
    return replace(journal, phase=phase)


def _parse(data: Mapping[str, Any]) -> Journal:
    steps = tuple(
        Step(**{**step, "seen": _signature(step["seen"]), "staged": _signature(step["staged"])})
        for step in data["steps"]
    )
    outcome = _outcome(data["outcome"]) if data["outcome"] else None
    owner = tuple(data["owner"]) if data["owner"] else None
    return Journal(**{**data, "steps": steps, "outcome": outcome, "owner": owner})


def _plain(item: object) -> object:
    """Return one of our values as JSON has it, one level deep."""
    if isinstance(item, frozenset):
        return sorted(item)
    # Not asdict: it copies every value, which for many steps takes longer than the writing.
    return {name: getattr(item, name) for name in getattr(item, "__slots__", ())}


def _outcome(data: Mapping[str, Any]) -> Outcome:
    return Outcome(
        now={path: Node(**node) if node else None for path, node in data["now"].items()},
        partial=frozenset(data["partial"]),
        merged={path: Node(**node) for path, node in data["merged"].items()},
    )


def _signature(data: Mapping[str, int] | None) -> Signature | None:
    return Signature(**data) if data else None


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
