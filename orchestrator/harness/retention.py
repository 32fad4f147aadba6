"""Taking sessions away: the conversation, what lies beside it, and its box's files.

The audit chain stays unless it is asked for by name, and its last own record says that the session
was removed.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.engine.client import connect
from orchestrator.errors import SessionBusy, SessionError
from orchestrator.harness.applying import session_chain
from orchestrator.schema.ids import SessionId
from orchestrator.sessions.finding import SessionFile
from orchestrator.sessions.lease import held_at_rest
from orchestrator.workspace.opening import drop_workspace
from orchestrator.workspace.record import RECORD


@dataclass(frozen=True, slots=True)
class Removal:
    """How far a removal goes."""

    changes: bool = False
    """Changes that wait are dropped too; without it their session stays."""
    audit: bool = False
    """The audit chain goes too."""


def has_changes(session: SessionId, paths: Paths) -> bool:
    """Say whether files of the session's box wait to be applied or discarded."""
    return (paths.work(session) / RECORD).exists()


def due(
    found: Sequence[SessionFile], *, before: float | None, keep: int | None
) -> list[SessionFile]:
    """Return the sessions, newest first as ``found`` is, that are old enough and not to be kept.

    ``before`` is seconds since the epoch, None for any age; ``keep`` of the newest are left.
    """
    beyond = found[keep or 0 :]
    return [item for item in beyond if before is None or item.modified < before]


def remove_session(item: SessionFile, paths: Paths, removal: Removal) -> int:
    """Remove one session and return the bytes that its own files held; 0 where it is gone already.

    Raises SessionBusy while a process has it open, SessionError where changes wait that are not
    to be dropped, or where its folder cannot be written; then all of it is still there.
    """
    session = item.header.id
    try:
        with _removable(item, paths, removal):
            _drop_files(session, paths)
            _close_chain(session, paths, removal)
            return _remove_own(item.path, paths.recordings(session))
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not os.path.lexists(item.path):
            # Somebody else removed it meanwhile.
            return 0
        raise SessionError(
            f"{item.path}: the session cannot be removed: {error.strerror}",
            hint=f"mend the rights of {item.path.parent}",
        ) from error


def check_removable(item: SessionFile, paths: Paths, removal: Removal) -> None:
    """Raise what `remove_session` would before it touches anything."""
    try:
        with _removable(item, paths, removal):
            return
    except OSError as error:
        raise SessionError(
            f"{item.path}: the session cannot be removed: {error.strerror}"
        ) from error


@contextmanager
def _removable(item: SessionFile, paths: Paths, removal: Removal) -> Iterator[None]:
    """Keep the session from being opened meanwhile; raise where it is not to be removed."""
    session = item.header.id
    if not item.path.name.endswith(f"_{session}.jsonl"):
        # Held is this file alone: the session of that id may be open, and box and chain are its.
        raise SessionError(
            f"{item.path}: expected a name that ends with _{session}.jsonl: it may be a copy, and "
            "what lies beside a session is the original's",
            hint=f"rm {item.path} removes this file alone",
        )
    twins = [path for path in paths.sessions.glob(f"*/*_{session}.jsonl") if path != item.path]
    if twins:
        raise SessionError(
            f"session {session}: two files have this id, {item.path} and {twins[0]}: what lies beside "
            "a session is that of one of them",
            hint="move the copy away from among the sessions",
        )
    with held_at_rest(item.path) as resting:
        if not os.access(item.path.parent, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if not resting:
            raise SessionBusy(
                f"session {session}: a process has it open", hint=f"glovebox kill {session}"
            )
        if has_changes(session, paths) and not removal.changes:
            raise SessionError(
                f"session {session}: changes wait in its box",
                hint=f"glovebox diff {session} shows them; --changes drops them too",
            )
        yield


def _drop_files(session: SessionId, paths: Paths) -> None:
    if paths.work(session).exists():
        engine = connect()
        try:
            drop_workspace(session, paths=paths, engine=engine)
        finally:
            engine.close()


def _close_chain(session: SessionId, paths: Paths, removal: Removal) -> None:
    chain = paths.audit_log(session)
    if not chain.exists():
        return
    if removal.audit:
        for path in chain.parent.glob(f"{session}.*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return
    with session_chain(paths, session) as audit:
        audit.append("session_removed", {})


def _remove_own(path: Path, recordings: Path) -> int:
    """Remove the session's own files, the one that makes it a session last."""
    if recordings.exists():
        shutil.rmtree(recordings)
    beside = [*path.parent.glob(f"{path.name}.*"), *path.parent.glob(f".{path.name}.*"), path]
    freed = 0
    for file in beside:
        freed += file.lstat().st_size
        file.unlink()
    return freed
