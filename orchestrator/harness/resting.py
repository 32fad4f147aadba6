"""A session at rest, opened to look back in it and to go back.

A front door with a running session leaves it first and resumes it afterwards: a box's files must
not change under it, and what ran in it knew the later ones.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.client import connect
from orchestrator.errors import WorkspaceError
from orchestrator.harness.rewind_plan import Aim, What, plan_rewind, plan_undo
from orchestrator.harness.rewind_turns import Turn, turns_of
from orchestrator.harness.rewinding import RewindDone, finish_rewind, rewind_session
from orchestrator.schema.ids import SessionId
from orchestrator.sessions.store import SessionStore
from orchestrator.sessions.tree import EntryTree
from orchestrator.workspace.opening import load_workspace
from orchestrator.workspace.recover import recover
from orchestrator.workspace.rewind import FileHistory
from orchestrator.workspace.snapshots_words import Snapshot
from orchestrator.workspace.workspace import Workspace

UNDO = "undo"
"""Names the way back from the newest rewind."""


@dataclass(frozen=True, slots=True)
class RestingSession:
    """One session that nobody else has open."""

    store: SessionStore
    workspace: Workspace | None
    """None where nothing was changed, or all was applied or discarded."""
    paths: Paths
    mended: tuple[str, ...] = ()
    """What had been cut off and is finished now, one line each, raw."""

    @property
    def id(self) -> SessionId:
        """The session's id."""
        return self.store.header.id

    def turns(self) -> list[Turn]:
        """Return the turns of the conversation as it stands, turn 0 first."""
        return turns_of(self.store.tree)

    async def snapshots(self) -> list[Snapshot]:
        """Return the snapshots, oldest first; none in a mode that keeps none."""
        history = self._files
        if history is None or not history.is_kept:
            return []
        return await to_thread.run_sync(history.snapshots)

    async def used_bytes(self) -> int:
        """Return how much the kept contents hold."""
        history = self._files
        if history is None or not history.is_kept:
            return 0
        return await to_thread.run_sync(history.used_bytes)

    async def rewind(self, target: str, what: What = "both") -> RewindDone:
        """Go back to a turn (``3``) or a snapshot (``s7``), or take a rewind back (``undo``).

        Raises UsageError where there is no such, or no rewind, WorkspaceError where its files are not kept.
        """
        if what != "conversation" and target != UNDO:
            self._require_files()
        aim = await find_aim(target, what, tree=self.store.tree, files=self._files)
        if aim.snapshot is not None:
            self._require_files()
        return await rewind_session(self.store, self.workspace, aim, paths=self.paths)

    @property
    def _files(self) -> FileHistory | None:
        return FileHistory(self.workspace) if self.workspace is not None else None

    def _require_files(self) -> None:
        if self._files is None:
            raise WorkspaceError(
                f"session {self.id}: it has no files in a box any more: nothing was changed, or "
                "all was applied or discarded",
                hint="--conversation goes back without them",
            )


async def find_aim(target: str, what: What, *, tree: EntryTree, files: FileHistory | None) -> Aim:
    """Return where a rewind would lead; nothing is touched, so the session may be up.

    Raises UsageError where there is no such turn or snapshot, WorkspaceError where no files are
    kept.
    """
    if target == UNDO:
        aim = plan_undo(tree)
        if aim.snapshot is not None and files is not None:
            files.require_kept()
        return aim
    if files is not None and what != "conversation":
        files.require_kept()
    kept = files is not None and files.is_kept
    snapshots = await to_thread.run_sync(files.snapshots) if files is not None and kept else []
    return plan_rewind(target, what, tree=tree, snapshots=snapshots)


@asynccontextmanager
async def open_resting(file: Path, paths: Paths) -> AsyncIterator[RestingSession]:
    """Open the session of a file alone, with whatever was cut off in it finished first.

    Raises SessionBusy while a run has it.
    """
    store = SessionStore.open(file)
    session = store.header.id
    try:
        engine = await to_thread.run_sync(connect)
        try:
            mended = await to_thread.run_sync(recover, paths, engine)
            try:
                workspace = load_workspace(session, paths=paths, engine=engine)
            except WorkspaceError:
                yield RestingSession(store, None, paths, tuple(mended))
                return
            if await finish_rewind(store, workspace, paths=paths) is not None:
                mended.append(f"session {session}: a rewind that was cut off is now finished")
            yield RestingSession(store, workspace, paths, tuple(mended))
        finally:
            engine.close()
    finally:
        store.close()
