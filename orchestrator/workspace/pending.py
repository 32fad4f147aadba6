"""Finds the sessions of a directory whose changes wait."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.errors import WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.record import RECORD, WorkspaceRecord, load_record

_WHOLE_ID = re.compile("[0-9a-f]{8,16}")


def waiting_sessions(paths: Paths, directory: Path) -> list[SessionId]:
    """Return the sessions with a workspace of ``directory`` or of one above it, newest first."""
    here = directory.resolve()
    found = [
        record
        for record in _records(paths)
        if here == Path(record.directory) or Path(record.directory) in here.parents
    ]
    found.sort(key=lambda record: record.started_ns, reverse=True)
    return [SessionId(record.session) for record in found]


def session_named(paths: Paths, name: str) -> SessionId:
    """Return the one session with a workspace whose id begins with ``name``.

    A whole id is taken even where its record is broken, so that it can be discarded.
    """
    if _WHOLE_ID.fullmatch(name) and (paths.work(SessionId(name)) / RECORD).exists():
        return SessionId(name)
    found = [record.session for record in _records(paths) if record.session.startswith(name)]
    if len(found) != 1:
        raise WorkspaceError(
            f"session {name!r}: expected one with changes waiting, found {len(found)}",
            hint="see the sessions with `glovebox sessions list`",
        )
    return SessionId(found[0])


def _records(paths: Paths) -> Iterator[WorkspaceRecord]:
    """Yield all records that can be read; a broken one says so when its session is named."""
    for path in sorted((paths.state / "work").glob(f"*/{RECORD}")):
        try:
            record = load_record(path.parent)
        except WorkspaceError:
            continue
        if record is not None and not record.warm:
            yield record
