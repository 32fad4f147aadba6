"""Commits as git tells them; ``quarantine`` reads them, ``commit_set`` judges them. Data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RawCommit:
    """One commit as git tells it; every text is untrusted."""

    id: str
    parents: tuple[str, ...]
    author: str
    """Name and address."""
    committer: str
    time: str
    """ISO 8601, as the commit claims."""
    message: str


@dataclass(frozen=True, slots=True)
class RawFile:
    """One path that a commit gives another content, mode or end; untrusted."""

    commit: str
    path: str
    mode: int
    """The new mode as git writes it, 0 where the path is gone."""
    blob: str
    """The new object's id."""
