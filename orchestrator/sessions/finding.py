"""Session files on disk: all of a folder, newest first, or the one that a prefix names."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from orchestrator.errors import SessionError
from orchestrator.named_file import opened_regular
from orchestrator.schema.ids import SessionId
from orchestrator.sessions.entry import SessionHeader, parse_header
from orchestrator.sessions.places import said
from orchestrator.sessions.reading import header_from_name, read_content

_SESSION_NAME = re.compile(r"[0-9TZ]+_[0-9a-f]{8,16}\.jsonl")
_HEAD_BYTES = 65_536
"""A header is far shorter; a longer first line is none."""


@dataclass(frozen=True, slots=True)
class SessionFile:
    """One session file."""

    path: Path
    header: SessionHeader
    modified: float
    """Seconds since the epoch."""
    size: int = 0
    """Bytes."""


def session_file_name(created: datetime, session: SessionId) -> str:
    """Return the name of a new session's file; ``created`` is in UTC."""
    return f"{created.strftime('%Y%m%dT%H%M%S')}_{session}.jsonl"


def list_sessions(folder: Path) -> list[SessionFile]:
    """Return the sessions below a folder, the one written last first; other files are left out.

    Raises SessionError for a folder that cannot be looked into: it may hold some.
    """
    try:
        with os.scandir(folder):
            pass
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as err:
        raise SessionError(
            f"{folder}: sessions cannot be looked for: {err.strerror}",
            hint=f"mend its rights: chmod u+rwx {folder}",
        ) from err
    found = list(_sessions_below(folder))
    return sorted(found, key=lambda item: (item.modified, item.path.name), reverse=True)


def find_session(folder: Path, prefix: str) -> SessionFile:
    """Return the one session whose id starts with ``prefix``; SessionError for none or several."""
    found = [item for item in list_sessions(folder) if item.header.id.startswith(prefix)]
    exact = [item for item in found if item.header.id == prefix]
    if not prefix or not found:
        raise SessionError(
            f"session {prefix!r}: none has such an id", hint="glovebox sessions list --all"
        )
    if len(found) > 1 and not exact:
        ids = ", ".join(item.header.id for item in found[:5])
        raise SessionError(
            f"session {prefix!r}: expected one, {len(found)} have such an id: {ids}",
            hint="give more digits",
        )
    if len(exact) > 1:
        names = ", ".join(str(item.path) for item in exact[:5])
        raise SessionError(
            f"session {prefix}: {len(exact)} files say that they are it: {names}",
            hint="move all but one of them elsewhere",
        )
    return (exact or found)[0]


def first_words(path: Path) -> str:
    """Return a session's title, or what the person said first; "" where its beginning has none."""
    try:
        with opened_regular(path) as file:
            start = file.read(_HEAD_BYTES)
        entries = read_content(start, name=path.name).entries
    except (OSError, SessionError):
        return ""
    titles = (entry.body.get("title") for entry in entries if entry.type == "custom")
    title = next((given for given in titles if isinstance(given, str) and given), None)
    if title is not None:
        return title
    return next(filter(None, map(said, entries)), "")


def _sessions_below(folder: Path) -> Iterator[SessionFile]:
    for path in folder.rglob("*.jsonl"):
        try:
            with opened_regular(path) as file:
                line = file.readline(_HEAD_BYTES)
                facts = os.fstat(file.fileno())
        except OSError:
            # Gone since it was listed, not ours to read, a link or a pipe: no session for this caller.
            continue
        header = _header_of(path.name, line)
        if header is not None:
            yield SessionFile(path, header, facts.st_mtime, facts.st_size)


def _header_of(name: str, line: bytes) -> SessionHeader | None:
    """Return the header; a damaged one by the file's name, None where that is no session's."""
    try:
        header = parse_header(json.loads(line))
    except (ValueError, RecursionError):
        header = None
    return header or (header_from_name(name) if _SESSION_NAME.fullmatch(name) else None)
