"""After a run: show what changed, and ask what becomes of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from typing import Protocol

import anyio
from anyio import to_thread

from orchestrator.cli.run_io import RunIo
from orchestrator.config.paths import Paths
from orchestrator.engine.client import connect
from orchestrator.errors import EngineUnavailable
from orchestrator.harness.applying import apply_recorded
from orchestrator.schema.ids import SessionId
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.handover import (
    Applied,
    discard_changes,
    drop_emptied,
    read_changes,
    read_counts,
    read_patch,
)
from orchestrator.workspace.node import ChangeSet
from orchestrator.workspace.opening import load_workspace
from orchestrator.workspace.plan import Selection
from orchestrator.workspace.rewind import FileHistory
from orchestrator.workspace.summary import effect_lines, left_lines, note_lines, summary_lines
from orchestrator.workspace.workspace import Workspace


class Notes(Protocol):
    """Where lines are told."""

    def note(self, text: str) -> None:
        """Tell the person something; ``text`` is already safe."""
        ...


def review_end(paths: Paths, session: SessionId, io: RunIo, *, apply_now: bool) -> int:
    """Do what ``review_changes`` does; where the engine is gone by now, the changes wait.

    Returns the engine's exit code only where something was to be applied.
    """
    try:
        return anyio.run(partial(review_changes, paths, session, io, apply_now=apply_now))
    except EngineUnavailable as error:
        io.note(escape_terminal(f"changes were not looked at: {error.message} ({error.hint})"))
        io.note(f"they are kept: glovebox diff {session}")
        return error.exit_code if apply_now else 0


async def review_changes(paths: Paths, session: SessionId, io: RunIo, *, apply_now: bool) -> int:
    """Apply, ask, or say how to look; return 1 where something asked for was not applied."""
    engine = await to_thread.run_sync(connect)
    try:
        workspace = load_workspace(session, paths=paths, engine=engine)
        changes = await read_changes(workspace)
        asked = not apply_now and io.terminal is not None
        if changes and asked and not all(change.ignored for change in changes.changes):
            return await _ask(workspace, changes, paths, io)
        _tell(io, note_lines(changes))
        if not changes:
            return await _nothing_waits(workspace, io)
        if apply_now:
            return await _apply(workspace, changes, Selection(), paths=paths, io=io)
        _keep(changes, io)
        return 0
    finally:
        engine.close()


async def _nothing_waits(workspace: Workspace, io: RunIo) -> int:
    """Drop a workspace without changes, unless there is something to go back to."""
    if await to_thread.run_sync(FileHistory(workspace).holds_changes):
        session = workspace.site.record.session
        io.note(f"no changes wait; earlier ones can be had again: glovebox rewind {session}")
    else:
        await discard_changes(workspace)
    return 0


async def show_changes(paths: Paths, session: SessionId, io: RunIo) -> None:
    """Show the whole diff of a session."""
    engine = await to_thread.run_sync(connect)
    try:
        workspace = load_workspace(session, paths=paths, engine=engine)
        changes = await read_changes(workspace)
        lines, counts = await read_patch(workspace, changes)
    finally:
        engine.close()
    _tell(io, (shown_line(line) for line in lines))
    _tell(io, summary_lines(changes, counts))


async def _ask(workspace: Workspace, changes: ChangeSet, paths: Paths, io: RunIo) -> int:
    _tell(io, summary_lines(changes, await read_counts(workspace, changes)))
    while io.terminal is not None:
        io.terminal.discard_input()
        io.terminal.write("apply these changes? y = yes, d = show them, n = later (default): ")
        answer = await io.terminal.read_line()
        match (answer or "").strip().lower():
            case "y" | "yes":
                return await _apply(workspace, changes, Selection(), paths=paths, io=io)
            case "d" | "diff":
                lines, _ = await read_patch(workspace, changes)
                _tell(io, (shown_line(line) for line in lines))
            case _:
                break
    _keep(changes, io)
    return 0


async def apply_selection(
    paths: Paths, session: SessionId, io: Notes, *, selection: Selection
) -> None:
    """Apply what is selected of a session at rest, and say what came of it."""
    engine = await to_thread.run_sync(connect)
    try:
        workspace = load_workspace(session, paths=paths, engine=engine)
        changes = await read_changes(workspace)
        if changes:
            await _apply(workspace, changes, selection, paths=paths, io=io)
        else:
            io.note("no changes wait")
    finally:
        engine.close()


async def _apply(
    workspace: Workspace, changes: ChangeSet, selection: Selection, *, paths: Paths, io: Notes
) -> int:
    applied = await apply_recorded(workspace, changes, selection, paths=paths)
    _tell(io, _applied_lines(changes, applied))
    if applied.nothing_left:
        await drop_emptied(workspace, applied)
    return 0 if applied.complete else 1


def _applied_lines(changes: ChangeSet, applied: Applied) -> Iterable[str]:
    yield f"{len(applied.changes)} changes applied to {escape_terminal(changes.directory)}"
    yield from effect_lines(applied.changes)
    yield from left_lines(applied.left)
    if not applied.nothing_left:
        yield f"the rest waits: glovebox diff {changes.session}"


def shown_line(line: str) -> str:
    """Return one line of a diff for a terminal: tabs stay, a name's own line feed does not."""
    return "\t".join(escape_terminal(part) for part in line.split("\t"))


def _keep(changes: ChangeSet, io: RunIo) -> None:
    io.note(
        f"{len(changes.changes)} changes wait: glovebox diff {changes.session}, then "
        f"glovebox apply {changes.session} or glovebox discard {changes.session}"
    )


def _tell(io: Notes, lines: Iterable[str]) -> None:
    for line in lines:
        io.note(line)
    sys.stderr.flush()
