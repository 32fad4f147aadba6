"""Brings a session's files back to a snapshot, whatever mode the workspace has.

The calls block. No box may run on the workspace while files are brought back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.early_bases import forget_untouched, keep_early_bases
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.handover import check_ended
from orchestrator.workspace.record import load_record, locked
from orchestrator.workspace.rewind_below import with_below
from orchestrator.workspace.rewind_upper import clear_next, rebuild_upper
from orchestrator.workspace.rewind_volume import rebuild_volume
from orchestrator.workspace.snapshots import FOLDER, Snapshots, Taken
from orchestrator.workspace.snapshots_site import (
    WHY_NOT,
    open_snapshots,
    require_kept,
    take_snapshot,
)
from orchestrator.workspace.snapshots_words import Moment, Snapshot
from orchestrator.workspace.tree import Tree, open_tree
from orchestrator.workspace.volume_copy import CopyWorkspace
from orchestrator.workspace.workspace import Site, Workspace


@dataclass(frozen=True, slots=True)
class Rewound:
    """What bringing files back did."""

    restored: Snapshot
    before: Snapshot
    """What the files were, so that it can be undone."""
    dropped: tuple[Snapshot, ...] = ()
    notices: tuple[str, ...] = ()
    """What did not work out although the files are back, one line each, raw."""


class FileHistory:
    """The snapshots of one workspace; a process that goes on with it keeps one of these."""

    def __init__(self, workspace: Workspace) -> None:
        """Nothing is read before the first call."""
        self._workspace = workspace
        self._site = _fresh(workspace.site)
        self._snapshots: Snapshots | None = None

    @property
    def is_kept(self) -> bool:
        """False for a mode that has no snapshots."""
        return self._site.record.mode not in WHY_NOT

    @property
    def is_costly(self) -> bool:
        """True where a snapshot reads all files, not only those that changed."""
        return self._site.record.mode == "copy"

    def require_kept(self) -> None:
        """Raise WorkspaceError, which says why, for a mode that has no snapshots."""
        require_kept(self._site)

    def snapshots(self) -> list[Snapshot]:
        """Return the session's snapshots, oldest first; WorkspaceError where its mode has none."""
        with locked(self._site.folder, wait=True):
            return self._opened().log.snapshots

    def holds_changes(self) -> bool:
        """Say whether an earlier turn's files are other than the host's, whatever they are now."""
        if not self.is_kept or not (self._site.folder / FOLDER).exists():
            return False
        # A copy's very first one names all that went in.
        first = 1 if self.is_costly else 0
        return any(item.paths for item in self.snapshots() if item.number > first)

    def used_bytes(self) -> int:
        """Return how much the contents of all snapshots hold."""
        return self._opened().contents.used_bytes

    def take(self, moment: Moment) -> Taken:
        """Add a snapshot where files changed; the box may run meanwhile."""
        site = self._site
        with locked(site.folder, wait=True), self._host() as host, _translated(site, ""):
            taken = self._take(moment, host)
            if taken.snapshot is not None:
                keep_early_bases(site, host)
            return taken

    def rewind(self, number: int, *, now: Moment, then: Moment) -> Rewound:
        """Make the files what they were at a snapshot, after one of what they are now.

        All or nothing, and safe to do again after a crash. Raises WorkspaceError while a box runs,
        for a snapshot that is not there, or where a content was not kept.
        """
        with locked(self._site.folder), self._host() as host:
            with _translated(self._site, "nothing has changed"):
                restored, before = self._swap(number, now, host)
                forget_untouched(self._site)
            notices: tuple[str, ...] = ()
            taken = Taken(None)
            try:
                taken = self._take(then, host, restored=number)
            except (OSError, WorkspaceError) as err:
                notices = (f"the files are back, but no snapshot says so: {err}",)
            return Rewound(restored, before, taken.dropped, notices)

    def _swap(self, number: int, now: Moment, host: Tree) -> tuple[Snapshot, Snapshot]:
        folder = self._site.folder
        check_ended(self._site)
        clear_next(folder)
        snapshots = self._opened()
        log = snapshots.log
        restored = _numbered(log.snapshots, number, self._site)
        self._take(now, host)
        before = log.snapshots[-1]
        wanted, contents = log.state_at(number), snapshots.contents
        if self._site.record.mode == "copy":
            rebuild_volume(self._site, wanted, present=log.state, contents=contents, host=host)
            self._site = _fresh(self._site)
            if isinstance(self._workspace, CopyWorkspace):
                self._workspace.site = self._site
        else:
            hidden = path_globs(self._site.record.hidden)
            wanted = with_below(wanted, log.below_since(number), host, hidden=hidden)
            rebuild_upper(folder, wanted, present=log.state, contents=contents)
        return restored, before

    def _opened(self) -> Snapshots:
        if self._snapshots is None:
            self._snapshots = open_snapshots(self._site)
        return self._snapshots

    @contextmanager
    def _host(self) -> Iterator[Tree]:
        with open_tree(Path(self._site.record.directory)) as host:
            yield host

    def _take(self, moment: Moment, host: Tree, *, restored: int = 0) -> Taken:
        return take_snapshot(self._site, self._opened(), moment, host=host, restored=restored)


def _fresh(site: Site) -> Site:
    """Return the site with its record as it is on disk: a rewind gives a copy another volume."""
    return replace(site, record=load_record(site.folder) or site.record)


@contextmanager
def _translated(site: Site, state: str) -> Iterator[None]:
    """Turn an operating system's error into one that names the session."""
    try:
        yield
    except OSError as err:
        where = f"{err.filename!r}: " if err.filename else ""
        raise WorkspaceError(
            f"session {site.record.session}: {where}{err.strerror or err}"
            + (f"; {state}" if state else ""),
            hint=f"check the free space and your rights in {site.folder}",
        ) from err


def _numbered(snapshots: list[Snapshot], number: int, site: Site) -> Snapshot:
    for snapshot in snapshots:
        if snapshot.number == number:
            return snapshot
    raise WorkspaceError(
        f"session {site.record.session}: it has no snapshot {number}",
        hint="see them with `glovebox rewind --list`; old ones are dropped when they need too much",
    )
