"""Workspaces that are prepared before a session asks for them: taking one, dropping dead ones."""

from __future__ import annotations

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine
from orchestrator.engine.labels import is_locked
from orchestrator.errors import EngineError, WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.opening import (
    drop_workspace,
    file_clock_ns,
    leave_unused,
    load_workspace,
)
from orchestrator.workspace.overlay import OverlayWorkspace
from orchestrator.workspace.record import LEASE, RECORD, load_record, save_record
from orchestrator.workspace.workspace import Site


def settle_in(session: SessionId, *, paths: Paths, engine: Engine) -> OverlayWorkspace:
    """Make a warm workspace the session's own, as if it were prepared now.

    Raises WorkspaceError where what was prepared no longer fits the host. Whoever calls this holds
    the lease, and nothing in the box has looked at the workspace yet.
    """
    workspace = load_workspace(session, paths=paths, engine=engine)
    record, folder = workspace.site.record, workspace.site.folder
    if not isinstance(workspace, OverlayWorkspace) or not record.warm:
        raise WorkspaceError(f"session {session}: its workspace is not a warm overlay")
    # Before the check: what changes on the host from here on is a change during the session.
    started = file_clock_ns(folder)
    why = workspace.stale()
    if why:
        raise WorkspaceError(f"session {session}: {why}")
    # Looked at again, since the check finds hidden files by other names as well.
    own = workspace.site.record.model_copy(update={"warm": False, "started_ns": started})
    save_record(folder, own)
    return OverlayWorkspace(Site(own, folder, engine, workspace.site.labels))


def is_unclaimed(session: SessionId, *, paths: Paths) -> bool:
    """Say whether a workspace of this state directory waits for a session; broken ones do not."""
    try:
        record = load_record(paths.work(session))
    except WorkspaceError:
        return False
    return record is not None and record.warm


def drop_unused(session: SessionId, *, paths: Paths, engine: Engine) -> None:
    """Drop the workspace of a session that never began; where that cannot be now, a sweep will."""
    try:
        drop_workspace(session, paths=paths, engine=engine)
    except EngineError:
        leave_unused(paths.work(session))
        raise


def remove_unclaimed(paths: Paths, engine: Engine) -> list[SessionId]:
    """Drop the warm workspaces whose keeper died, and return them; one in use is left alone."""
    removed = []
    for path in sorted((paths.state / "work").glob(f"*/{RECORD}")):
        try:
            record = load_record(path.parent)
            if record is None or not record.warm or is_locked(path.parent / LEASE):
                continue
            session = SessionId(path.parent.name)
            drop_workspace(session, paths=paths, engine=engine)
        except (WorkspaceError, EngineError):
            # A broken record names itself when it is asked for; a busy volume goes next time.
            continue
        removed.append(session)
    return removed
