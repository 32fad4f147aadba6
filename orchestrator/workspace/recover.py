"""Finishes or undoes what a killed apply left; every command that reads changes calls it first."""

from __future__ import annotations

from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine
from orchestrator.errors import GloveboxError, WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.apply import abandon, carry_out, finish, take_back
from orchestrator.workspace.handover import target_of
from orchestrator.workspace.journal import JOURNAL, read_journal
from orchestrator.workspace.merging import note_outcome
from orchestrator.workspace.opening import load_workspace
from orchestrator.workspace.record import locked
from orchestrator.workspace.workspace import Workspace


def unfinished(paths: Paths) -> list[SessionId]:
    """Return the sessions in which an apply was begun and not finished; cheap."""
    found = (paths.state / "work").glob(f"*/{JOURNAL}")
    return sorted(SessionId(path.parent.name) for path in found)


def recover(paths: Paths, engine: Engine) -> list[str]:
    """Finish or undo each unfinished apply, and say what was done, one line each.

    An apply that another process is busy with is left alone.
    """
    return [line for session in unfinished(paths) if (line := _recover(session, paths, engine))]


def _recover(session: SessionId, paths: Paths, engine: Engine) -> str:
    folder = paths.work(session)
    try:
        workspace = load_workspace(session, paths=paths, engine=engine)
        with locked(folder):
            return _mend(session, workspace, folder)
    except GloveboxError as err:
        waits = (folder / JOURNAL).exists()
        state = "an unfinished apply waits" if waits else "an apply that was cut off is undone"
        return f"session {session}: {state}: {err.message}"
    except OSError as err:
        return f"session {session}: an unfinished apply waits: {err}"


def _mend(session: SessionId, workspace: Workspace, folder: Path) -> str:
    journal = read_journal(folder)
    if journal is None:
        return ""
    target = target_of(workspace.site)
    with target.open() as tree:
        if journal.phase == "staging":
            abandon(tree, folder, journal)
            return f"session {session}: an apply that was cut off had changed nothing yet"
        if journal.phase == "undoing":
            back = take_back(tree, folder, journal)
            if back.out_of_reach:
                raise WorkspaceError(back.words, hint=back.hint)
            return f"session {session}: an apply that was cut off is undone: {back.words}"
        if journal.phase == "committing":
            carry_out(tree, folder, journal)
    if journal.outcome is not None:
        workspace.settle(journal.outcome)
        note_outcome(workspace, journal.outcome)
    finish(target)
    return f"session {session}: an apply that was cut off is now finished"
