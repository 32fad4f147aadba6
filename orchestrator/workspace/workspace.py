"""The words of a workspace: what it is asked for, what it gives a box, what it can do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from orchestrator.engine.client import Engine
from orchestrator.engine.volumes import Owner
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.workspace.node import ChangeSet, Limits, Outcome, WorkspaceMode
from orchestrator.workspace.record import WorkspaceRecord
from orchestrator.workspace.staging import OpenContent

_OVERSHOOT = 1024**3
"""Bytes: at least this much more than the budget, as a call over it is ended a bit late."""

WORKDIR = "/workspace"
"""Where the workspace is in every box."""


@dataclass(frozen=True, slots=True)
class WorkspaceSpec:
    """What a session wants."""

    session: SessionId
    directory: Path
    mode: WorkspaceMode
    image: str
    """Any image that the engine has: copying needs a container, which is never started."""
    protected: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    disk_bytes: int = Limits().bytes
    runtime: str | None = None
    """For containers in which something runs on the box's files."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """For the containers that copy; they are gone when a call returns."""
    warm: bool = False
    """Prepare it for a session that does not exist yet."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the box needs to be made with."""

    mode: WorkspaceMode
    mounts: tuple[Mount, ...]
    uid: int
    gid: int
    workdir: str = WORKDIR
    notices: tuple[str, ...] = ()
    """What the person should know, one line each, raw."""


@dataclass(frozen=True, slots=True)
class Site:
    """One session's workspace: its record, its folder in the state, the engine."""

    record: WorkspaceRecord
    folder: Path
    engine: Engine
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def owner(self) -> Owner:
        """Whose the volume is."""
        return Owner(SessionId(self.record.session), self.folder)

    @property
    def limits(self) -> Limits:
        """How much is read back from the box: more than its budget."""
        disk = self.record.disk_bytes
        return Limits(bytes=disk + max(disk, _OVERSHOOT))


def with_hidden(site: Site, globs: Iterable[str]) -> Site:
    """Return the site with more hidden paths in its record, which is not saved here."""
    hidden = tuple(dict.fromkeys((*site.record.hidden, *globs)))
    return replace(site, record=site.record.model_copy(update={"hidden": hidden}))


class Workspace(Protocol):
    """One mode's way in and out. The calls block; nothing may run in the box but in ``prepare``."""

    @property
    def site(self) -> Site:
        """Return what the workspace stands on."""
        ...

    def prepare(self) -> Prepared:
        """Make what the box mounts, or find it again; nothing is half made on an error."""
        ...

    def changes(self) -> ChangeSet:
        """Return what the box changed, judged, against the host as it is now."""
        ...

    def content(self) -> AbstractContextManager[OpenContent]:
        """Give access to the box's contents as the last ``changes`` saw them."""
        ...

    def settle(self, outcome: Outcome) -> None:
        """Take applied changes as the new base."""
        ...

    def remove(self) -> None:
        """Remove everything but the host's directory; what is already gone is no error."""
        ...
