"""Rewinding a session that does not run: files, conversation or both, recorded, and safe to kill.

What is about to be done is on disk before it is begun; ``finish_rewind`` completes what was cut.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.client import connect
from orchestrator.errors import SessionError, WorkspaceError
from orchestrator.harness.applying import session_chain
from orchestrator.harness.rewind_plan import Aim, mark_body
from orchestrator.harness.rewind_turns import moment_now
from orchestrator.schema.ids import EntryId
from orchestrator.sessions.store import SessionStore
from orchestrator.workspace.opening import load_workspace
from orchestrator.workspace.rewind import FileHistory
from orchestrator.workspace.snapshots_words import Moment, Snapshot
from orchestrator.workspace.workspace import Workspace

JOURNAL = "rewind.json"


@dataclass(frozen=True, slots=True)
class RewindDone:
    """What a rewind led to."""

    aim: Aim
    before: int | None
    """Number of the snapshot of the files as they were; None where they stayed."""
    dropped: tuple[Snapshot, ...] = ()
    notices: tuple[str, ...] = ()
    """What did not work out, one line each, raw."""


@dataclass(frozen=True, slots=True)
class _Order:
    """A rewind as its journal holds it."""

    aim: Aim
    newest: int
    """Number of the newest snapshot before it began."""
    leaf: EntryId | None
    turn: int
    entries: int
    """How many entries the session had."""


async def rewind_session(
    store: SessionStore, workspace: Workspace | None, aim: Aim, *, paths: Paths
) -> RewindDone:
    """Carry a rewind out; nothing has changed when it raises WorkspaceError or AuditUnavailable.

    The session's file is open, so that no run can have it; ``workspace`` is None where only the
    conversation is meant.
    """
    history = FileHistory(workspace) if workspace is not None and aim.snapshot else None
    known = await to_thread.run_sync(history.snapshots) if history else []
    now = moment_now(store.tree)
    order = _Order(
        aim,
        newest=known[-1].number if known else 0,
        leaf=store.tree.leaf,
        turn=now.turn,
        entries=len(store.tree.entries),
    )
    session = store.header.id
    with session_chain(paths, session) as audit:
        audit.append("rewind_intent", asdict(aim))
        folder = workspace.site.folder if workspace is not None else None
        if folder is not None:
            _write_journal(folder, order)
        done = await _complete(order, store, history, folder)
        audit.append("rewind", {**asdict(aim), "before": done.before})
    return done


async def mend_rewind(store: SessionStore, paths: Paths) -> str:
    """Complete a rewind of the session that was cut off, and say so; cheap where none was."""
    if not (paths.work(store.header.id) / JOURNAL).exists():
        return ""
    engine = await to_thread.run_sync(connect)
    try:
        workspace = load_workspace(store.header.id, paths=paths, engine=engine)
        await finish_rewind(store, workspace, paths=paths)
    finally:
        engine.close()
    return f"session {store.header.id}: a rewind that was cut off is now finished"


async def finish_rewind(
    store: SessionStore, workspace: Workspace, *, paths: Paths
) -> RewindDone | None:
    """Complete a rewind that was cut off; None where none was."""
    folder = workspace.site.folder
    order = _read_journal(folder)
    if order is None:
        return None
    with session_chain(paths, store.header.id) as audit:
        history = FileHistory(workspace) if order.aim.snapshot else None
        done = await _complete(order, store, history, folder)
        audit.append("rewind", {**asdict(order.aim), "before": done.before, "finished": True})
    return done


async def _complete(
    order: _Order, store: SessionStore, history: FileHistory | None, folder: Path | None
) -> RewindDone:
    """Do what is not done yet; a failure that leaves everything as it was forgets the order."""
    done = RewindDone(order.aim, None)
    if history is not None:
        try:
            done = await to_thread.run_sync(lambda: _files(order, store, history))
        except WorkspaceError:
            _drop_journal(folder)
            raise
    if not _is_marked(order, store):
        rewind_conversation(store, order.aim, before=done.before, leaf=order.leaf, was=order.turn)
    _drop_journal(folder)
    return done


def rewind_conversation(
    store: SessionStore, aim: Aim, *, before: int | None, leaf: EntryId | None, was: int
) -> None:
    """Move the conversation where that is meant, and note the rewind in it; on disk on return."""
    if aim.what != "files":
        store.append("leaf", {"target": aim.leaf})
    store.append("custom", mark_body(aim, before=before, leaf=leaf, was=was))
    store.sync()


def moments(store: SessionStore, aim: Aim) -> tuple[Moment, Moment]:
    """Return where the snapshots before and after a rewind belong."""
    now = moment_now(store.tree)
    before = Moment("before", now.turn, now.entry)
    if aim.what == "files":
        return before, Moment("rewound", now.turn, now.entry)
    path = store.tree.path(aim.leaf) if aim.leaf is not None else ()
    answers = [e for e in path if e.type == "message" and e.body["role"] == "assistant"]
    return before, Moment("rewound", aim.turn, answers[-1].id if answers else "")


def _files(order: _Order, store: SessionStore, history: FileHistory) -> RewindDone:
    """Bring the files back, unless that was done; return the snapshot of what they were."""
    later = [item for item in history.snapshots() if item.number > order.newest]
    dropped: tuple[Snapshot, ...] = ()
    notices: tuple[str, ...] = ()
    if not any(item.moment.kind == "rewound" for item in later):
        now, then = moments(store, order.aim)
        rewound = history.rewind(order.aim.snapshot or 0, now=now, then=then)
        dropped, notices = rewound.dropped, rewound.notices
        later = [item for item in history.snapshots() if item.number > order.newest]
    # The first one: a rewind that was cut off after the swap takes another, of its own work.
    own = [item.number for item in later if item.moment.kind == "before"]
    return RewindDone(order.aim, own[0] if own else order.newest, dropped, notices)


def _is_marked(order: _Order, store: SessionStore) -> bool:
    """Say whether the conversation has the mark of this rewind already."""
    return any(entry.type == "custom" for entry in store.tree.entries[order.entries :])


def _write_journal(folder: Path, order: _Order) -> None:
    temporary = folder / f"{JOURNAL}.new"
    with temporary.open("w", encoding="ascii") as file:
        json.dump(asdict(order), file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / JOURNAL)


def _read_journal(folder: Path) -> _Order | None:
    path = folder / JOURNAL
    try:
        data: Mapping[str, Any] = json.loads(path.read_text("ascii"))
        return _Order(**{**data, "aim": Aim(**data["aim"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as err:
        raise SessionError(
            f"{path}: the journal of a rewind cannot be read: {err}",
            hint="remove it, and see with `glovebox rewind --list` where the session stands",
        ) from err


def _drop_journal(folder: Path | None) -> None:
    if folder is not None:
        (folder / JOURNAL).unlink(missing_ok=True)
