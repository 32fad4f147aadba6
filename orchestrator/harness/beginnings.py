"""Sessions on their way up, which have a workspace and no file of their own yet.

What announces one is made before its workspace and removed once its session file is there. A start
that was killed in between leaves it behind, and so the next sweep knows whose folder and volume
nobody will ask for.
"""

from __future__ import annotations

import time
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine
from orchestrator.engine.labels import is_locked
from orchestrator.engine.lease import Lease
from orchestrator.errors import EngineError, WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.opening import drop_workspace
from orchestrator.workspace.presence import is_gone

_NAMELESS_S = 60.0
"""After which a file that never got its name is nobody's any more."""


class Beginning:
    """One announced session; alive as long as this process, or until it is ``over``."""

    def __init__(self, path: Path, folder: Path, lease: Lease) -> None:
        self._path = path
        self._folder = folder
        self._lease = lease

    @classmethod
    def announce(cls, session: SessionId, paths: Paths) -> Beginning:
        """Say that a workspace of this session is about to be made."""
        paths.beginnings.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = paths.beginnings / session
        # Named when it is locked: one that is seen and not locked is a dead one's.
        nameless = path.with_name(f".{session}")
        lease = Lease.take(nameless)
        nameless.rename(path)
        return cls(path, paths.work(session), lease)

    def over(self) -> None:
        """Take it back: the session has its file."""
        self._path.unlink(missing_ok=True)
        self._lease.close()

    def release(self) -> None:
        """Let go; where it is not over and a workspace is left, that is for a sweep to remove."""
        if is_gone(self._folder):
            self.over()
        self._lease.close()


def remove_unbegun(paths: Paths, engine: Engine) -> list[SessionId]:
    """Drop what killed starts left, and return their sessions; one that lives is left alone."""
    removed = []
    for path in sorted(paths.beginnings.glob("*")):
        if is_locked(path):
            continue
        if path.name.startswith("."):
            _remove_old(path)
            continue
        session = SessionId(path.name)
        if not _has_file(session, paths):
            try:
                drop_workspace(session, paths=paths, engine=engine)
            except (WorkspaceError, EngineError):
                # Its box may be on its way out; another sweep comes.
                continue
            removed.append(session)
        path.unlink(missing_ok=True)
    return removed


def _has_file(session: SessionId, paths: Paths) -> bool:
    return next(paths.sessions.rglob(f"*_{session}.jsonl"), None) is not None


def _remove_old(path: Path) -> None:
    try:
        age = time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return
    if age > _NAMELESS_S:
        path.unlink(missing_ok=True)
