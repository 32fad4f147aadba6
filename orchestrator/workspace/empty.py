"""Mode none: an empty directory in memory, gone with the box."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from orchestrator.errors import WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.workspace.node import Change, ChangeSet, Outcome
from orchestrator.workspace.staging import OpenContent
from orchestrator.workspace.sweep import sweep
from orchestrator.workspace.workspace import WORKDIR, Prepared, Site

_SIZE = 1024**3
"""Bytes, unless the box may write less; its pages count as the box's memory."""


@dataclass(slots=True)
class EmptyWorkspace:
    """Nothing of the host goes in, nothing comes out."""

    site: Site

    def prepare(self) -> Prepared:
        """Return one mount in memory."""
        record = self.site.record
        size = min(_SIZE, record.disk_bytes)
        mount = Mount("tmpfs", "", WORKDIR, size=size)
        return Prepared("none", (mount,), record.uid, record.gid)

    def changes(self) -> ChangeSet:
        """Return no changes."""
        record = self.site.record
        return ChangeSet(SessionId(record.session), "none", record.directory)

    def content(self) -> AbstractContextManager[OpenContent]:
        """Refuse every content: there is nothing to apply."""
        return nullcontext(_no_content)

    def settle(self, outcome: Outcome) -> None:
        """Do nothing: no change is ever applied."""

    def remove(self) -> None:
        """Remove the folder, if anything made one."""
        sweep(self.site.folder)


def _no_content(change: Change) -> AbstractContextManager[int]:
    raise WorkspaceError(
        f"{change.path!r}: workspace mode none: the box's files are gone with the box"
    )
