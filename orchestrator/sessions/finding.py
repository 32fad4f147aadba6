"""Session files on disk: all of a folder, newest first, or the one that a prefix names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import SessionError
from orchestrator.sessions.entry import SessionHeader, parse_header

_HEAD_BYTES = 65_536
"""A header is far shorter; a longer first line is none."""


@dataclass(frozen=True, slots=True)
class SessionFile:
    """One session file."""

    path: Path
    header: SessionHeader
    modified: float
    """Seconds since the epoch."""


def list_sessions(folder: Path) -> list[SessionFile]:
    """Return the sessions below a folder, the one written last first; other files are left out."""
    found = list(_sessions_below(folder))
    return sorted(found, key=lambda item: (item.modified, item.path.name), reverse=True)


def find_session(folder: Path, prefix: str) -> SessionFile:
    """Return the one session whose id starts with ``prefix``; SessionError for none or several."""
    found = [item for item in list_sessions(folder) if item.header.id.startswith(prefix)]
    if not prefix or not found:
        raise SessionError(
            f"session {prefix!r}: none has such an id", hint="glovebox sessions list --all"
        )
    if len(found) > 1 and all(item.header.id != prefix for item in found):
        ids = ", ".join(item.header.id for item in found[:5])
        raise SessionError(f"session {prefix!r}: {len(found)} have such an id: {ids}")
    return found[0]


def _sessions_below(folder: Path) -> Iterator[SessionFile]:
    for path in folder.rglob("*.jsonl"):
        try:
            with path.open("rb") as file:
                line = file.readline(_HEAD_BYTES)
            modified = path.stat().st_mtime
            header = parse_header(json.loads(line))
        except (OSError, ValueError, RecursionError):
            continue
        if header is not None:
            yield SessionFile(path, header, modified)
