"""Volumes of this host whose session's record is gone: nobody can ask for them any more."""

from __future__ import annotations

from orchestrator.engine.client import Engine
from orchestrator.engine.volumes import folders_of_volumes, remove_volume
from orchestrator.errors import EngineError, EngineUnavailable
from orchestrator.workspace.presence import is_gone
from orchestrator.workspace.record import RECORD


def remove_orphans(engine: Engine) -> list[str]:
    """Remove the volumes without a record and return their names; one in use is left alone.

    Changes that wait have their record, so they are never touched, in whatever state directory.
    """
    removed = []
    for name, folder in sorted(folders_of_volumes(engine).items()):
        if not is_gone(folder / RECORD):
            continue
        try:
            remove_volume(engine, name, patience_s=0.0)
        except EngineUnavailable:
            raise
        except EngineError:
            continue
        removed.append(name)
    return removed
