"""Opens workspaces: a new one for a session, or one that an earlier process left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.engine.volumes import remove_volume
from orchestrator.errors import EngineError, WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.bind import BindWorkspace
from orchestrator.workspace.empty import EmptyWorkspace
from orchestrator.workspace.facts import gather_facts
from orchestrator.workspace.modes import choose_mode
from orchestrator.workspace.node import WorkspaceMode
from orchestrator.workspace.overlay import OverlayWorkspace
from orchestrator.workspace.overlay_work import clear_work
from orchestrator.workspace.record import WorkspaceRecord, load_record, locked, save_record
from orchestrator.workspace.sweep import sweep
from orchestrator.workspace.volume_copy import CopyWorkspace
from orchestrator.workspace.workspace import Prepared, Site, Workspace, WorkspaceSpec

_KINDS: dict[WorkspaceMode, Callable[[Site], Workspace]] = {
    "overlay": OverlayWorkspace,
    "copy": CopyWorkspace,
    "bind": BindWorkspace,
    "none": EmptyWorkspace,
}


def prepare_workspace(
    spec: WorkspaceSpec, *, paths: Paths, engine: Engine
) -> tuple[Workspace, Prepared]:
    """Return the session's workspace, ready to be mounted; nothing is left behind on an error.

    A session that has one already goes on with it, in the mode it was begun with.
    """
    folder = paths.work(spec.session)
    old = load_record(folder)
    if old is not None and old.warm and not spec.warm:
        # Marked to be removed, by an apply that took everything or a start that failed.
        _finish_removal(spec.session, paths=paths, engine=engine)
        old = None
    if old is not None:
        _check_same(old, spec)
        record = old.model_copy(
            update={
                "protected": tuple({*old.protected, *spec.protected}),
                "hidden": tuple({*old.hidden, *spec.hidden}),
                "image": spec.image,
                "runtime": spec.runtime,
            }
        )
        workspace = _KINDS[record.mode](Site(record, folder, engine, spec.labels))
        return workspace, workspace.prepare()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        record, notice = _new_record(spec, folder, engine)
        # Before there is a volume: one without a record counts as an orphan.
        save_record(folder, record)
        workspace = _KINDS[record.mode](Site(record, folder, engine, spec.labels))
        prepared = workspace.prepare()
    except BaseException:
        try:
            _drop(spec.session, folder, engine)
        except EngineError:
            # Most likely for the reason that is raised below; a later sweep drops it.
            leave_unused(folder)
        raise
    notices = (notice,) if notice else ()
    return workspace, replace(prepared, notices=(*notices, *prepared.notices))


def load_workspace(
    session: SessionId,
    *,
    paths: Paths,
    engine: Engine,
    labels: Mapping[str, str] | None = None,
    protected: Iterable[str] = (),
) -> Workspace:
    """Return a session's workspace from its record; WorkspaceError where it has none.

    ``protected`` are globs that hold now besides those that held when it began.
    """
    folder = paths.work(session)
    record = load_record(folder)
    if record is None:
        raise WorkspaceError(
            f"session {session}: it has no changes waiting",
            hint="see the sessions of this directory with `glovebox sessions list`",
        )
    guarded = tuple(dict.fromkeys((*record.protected, *protected)))
    record = record.model_copy(update={"protected": guarded})
    return _KINDS[record.mode](Site(record, folder, engine, labels or {}))


def volume_name(session: SessionId) -> str:
    """Return the name of a session's volume."""
    return f"glovebox-{session}-workspace"


def drop_workspace(session: SessionId, *, paths: Paths, engine: Engine) -> None:
    """Remove a session's workspace even where its record is broken or missing."""
    folder = paths.work(session)
    try:
        record = load_record(folder)
    except WorkspaceError:
        record = None
    if record is None:
        _drop(session, folder, engine)
    else:
        _KINDS[record.mode](Site(record, folder, engine)).remove()


def _finish_removal(session: SessionId, *, paths: Paths, engine: Engine) -> None:
    with suppress(FileNotFoundError), locked(paths.work(session), wait=True):
        drop_workspace(session, paths=paths, engine=engine)


def leave_unused(folder: Path) -> None:
    """Leave a workspace that no session has used to a later sweep, as the engine cannot now."""
    record = load_record(folder)
    if record is None:
        # The record comes before the volume: the engine has nothing of it.
        sweep(folder)
    else:
        save_record(folder, record.model_copy(update={"warm": True}))


def _drop(session: SessionId, folder: Path, engine: Engine) -> None:
    remove_volume(engine, volume_name(session))
    # Without a record there is no image of the session's own; any that the engine has will do.
    clear_work(folder, engine=engine, image=sandbox_image_name(asset("sandbox-image")), labels={})
    stuck = sweep(folder)
    if stuck:
        raise WorkspaceError(
            f"{folder}: {', '.join(map(repr, stuck))} cannot be removed",
            hint="remove the directory as root",
        )


def _new_record(spec: WorkspaceSpec, folder: Path, engine: Engine) -> tuple[WorkspaceRecord, str]:
    directory = spec.directory.resolve()
    facts, uid, gid = gather_facts(engine, directory, folder)
    mode, notice = choose_mode(spec.mode, facts)
    record = WorkspaceRecord(
        session=spec.session,
        mode=mode,
        directory=str(directory),
        inode=directory.stat().st_ino,
        uid=uid,
        gid=gid,
        volume=volume_name(spec.session),
        image=spec.image,
        started_ns=file_clock_ns(folder),
        protected=spec.protected,
        hidden=spec.hidden,
        disk_bytes=spec.disk_bytes,
        warm=spec.warm,
        runtime=spec.runtime,
    )
    return record, notice


def file_clock_ns(folder: Path) -> int:
    """Return now by the clock that stamps files, which runs behind the finer system clock."""
    marker = folder / "started"
    marker.touch(mode=0o600)
    return marker.stat().st_ctime_ns


def _check_same(old: WorkspaceRecord, spec: WorkspaceSpec) -> None:
    directory = str(spec.directory.resolve())
    if directory != old.directory:
        raise WorkspaceError(
            f"session {spec.session}: expected to go on in {old.directory}, got {directory}",
            hint=f"go on there, or drop its changes with `glovebox discard {spec.session}`",
        )
