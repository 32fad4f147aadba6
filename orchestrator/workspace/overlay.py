"""Overlay mode: the box writes to an upper directory of ours over the host's directory.

Starting costs the same however large the directory is. The host's directory is only read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.engine.volumes import (
    Layers,
    create_overlay,
    remove_volume,
)
from orchestrator.errors import WorkspaceError
from orchestrator.schema.mount import Mount
from orchestrator.workspace.assemble import assemble
from orchestrator.workspace.conflicts import SinceStart
from orchestrator.workspace.doors import check_doors, door_covers, find_doors
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.hard_links import literal_glob
from orchestrator.workspace.late import late_notes
from orchestrator.workspace.mask import build_mask, refresh_mask
from orchestrator.workspace.masking import find_kept, read_small, unmask
from orchestrator.workspace.node import Change, ChangeSet, Outcome, fingerprint
from orchestrator.workspace.overlay_work import clear_work
from orchestrator.workspace.private_git import (
    find_private_git,
    lay_private_git,
    objects_mount,
)
from orchestrator.workspace.prune import prune
from orchestrator.workspace.record import save_record
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.staging import OpenContent
from orchestrator.workspace.sweep import sweep
from orchestrator.workspace.tree import Tree, open_tree
from orchestrator.workspace.upper import read_upper
from orchestrator.workspace.workspace import WORKDIR, Prepared, Site, with_hidden


@dataclass(slots=True)
class OverlayWorkspace:
    """Layers, from the top: ``upper`` (the box's), ``mask`` (hidden paths), the host's."""

    site: Site

    def prepare(self) -> Prepared:
        """Lay out the layers and make the volume; a session's upper directory is taken up again."""
        record, folder = self.site.record, self.site.folder
        with open_tree(Path(record.directory)) as tree:
            notice = self._make_layers(tree)
        # A volume of an earlier run of this session may have layers that no longer hold.
        remove_volume(self.site.engine, record.volume)
        layers = Layers(
            lower=(str(folder / "mask"), str(folder / "lower")),
            upper=str(folder / "upper"),
            work=str(folder / "work"),
        )
        create_overlay(self.site.engine, record.volume, layers, owner=self.site.owner)
        save_record(folder, self.site.record)
        mounts = (Mount("volume", record.volume, WORKDIR), *self._objects())
        notices = (notice,) if notice else ()
        return Prepared("overlay", mounts, record.uid, record.gid, notices=notices)

    def stale(self) -> str:
        """Return why layers that nobody has looked at yet do not fit the host; empty where they do.

        The host's files need no check: the kernel looks at them when the box first does.
        """
        record, folder = self.site.record, self.site.folder
        with open_tree(Path(record.directory)) as tree:
            info, upper = os.fstat(tree.fd), self._upper.stat()
            if info.st_ino != record.inode:
                return "the directory was replaced by another"
            if (info.st_mode & 0o777, info.st_uid) != (upper.st_mode & 0o777, upper.st_uid):
                return "the directory's mode or owner changed"
            if any(self._upper.iterdir()):
                return "something was written in the box already"
            self._make_mask(folder / "mask.now", tree)
        fits = refresh_mask(folder / "mask", folder / "mask.now")
        sweep(folder / "mask.now")
        return "" if fits else "the hidden files are others by now"

    def changes(self) -> ChangeSet:
        """Walk the upper directory; no engine is asked."""
        record = self.site.record
        with open_tree(Path(record.directory)) as host, open_tree(self._upper) as upper:
            observed = read_upper(
                upper, host, hidden=path_globs(record.hidden), limits=self.site.limits
            )
            observed = unmask(
                observed, host, lambda path, _: read_small(upper, path), spool=self._restored()
            )
            baseline = SinceStart(record.started_ns, observed.copied_up, record.applied)
            found = assemble(record, observed, host, baseline=baseline, limits=self.site.limits)
            late = late_notes(host, record, covered=lambda p: os.path.lexists(self._mask / p))
            return replace(found, notes=(*found.notes, *late))

    @contextmanager
    def content(self) -> Iterator[OpenContent]:
        """Open contents in the upper directory."""
        restored = self._restored(clear=False)
        with open_tree(self._upper) as upper:

            def open_one(change: Change) -> AbstractContextManager[int]:
                digest = change.new.sha256 if change.new is not None else ""
                mended = restored.holds(digest)
                return restored.opened(digest) if mended else upper.file(change.path)

            yield open_one

    def settle(self, outcome: Outcome) -> None:
        """Drop from the upper directory what the host now has itself."""
        record = self.site.record
        applied = {path: fingerprint(node) if node else "" for path, node in outcome.now.items()}
        changed = record.model_copy(update={"applied": {**record.applied, **applied}})
        save_record(self.site.folder, changed)
        self.site = Site(changed, self.site.folder, self.site.engine, self.site.labels)
        with open_tree(Path(record.directory)) as host, open_tree(self._upper) as upper:
            prune(upper, host, outcome.now.keys() - outcome.partial)

    def remove(self) -> None:
        """Remove the volume and all layers."""
        remove_volume(self.site.engine, self.site.record.volume)
        site = self.site
        clear_work(site.folder, engine=site.engine, image=site.record.image, labels=site.labels)
        stuck = sweep(self.site.folder)
        if stuck:
            raise WorkspaceError(
                f"{self.site.folder}: {', '.join(map(repr, stuck))} cannot be removed",
                hint="remove the directory as root",
            )

    def _objects(self) -> tuple[Mount, ...]:
        """Return what shows the host's objects where the repository is elsewhere, and no more."""
        mounts = objects_mount(self.site.record)
        if not mounts:
            return ()
        # Unlike a layer, a mount leads to the very sockets and pipes of the host.
        with open_tree(Path(mounts[0].source)) as tree:
            doors = find_doors(tree)
        check_doors(doors, named=mounts[0].source, hint="use --workspace copy")
        return (*mounts, *door_covers(doors, mounts[0].target, self.site.folder))

    def _restored(self, *, clear: bool = True) -> Spool:
        """Return where contents with their credentials put back are kept until the next look."""
        spool = Spool(self.site.folder / "restored")
        if clear:
            spool.clear()
        return spool

    @property
    def _mask(self) -> Path:
        return self.site.folder / "mask"

    @property
    def _upper(self) -> Path:
        return self.site.folder / "upper"

    def _make_layers(self, tree: Tree) -> str:
        record, folder = self.site.record, self.site.folder
        info = os.fstat(tree.fd)
        if info.st_ino != record.inode:
            raise WorkspaceError(
                f"{record.directory}: this is not the directory that the session worked on",
                hint="move that one back to this path, or begin a new session",
            )
        for name in ("upper", "work"):
            self._own(folder / name)
        # The box sees the upper directory's attributes as the workspace's own.
        self._upper.chmod(info.st_mode & 0o777)
        lower = folder / "lower"
        lower.unlink(missing_ok=True)
        # By a link, whatever characters the directory's own path has.
        lower.symlink_to(record.directory)
        return self._make_mask(folder / "mask", tree)

    def _make_mask(self, mask: Path, tree: Tree) -> str:
        """Fill the layer between; returns what the person should know, empty where nothing."""
        sweep(mask)
        mask.mkdir()
        kept = find_kept(tree, self.site.record.hidden)
        build_mask(mask, tree, kept)
        self.site = with_hidden(self.site, map(literal_glob, kept.twins))
        private, notice = find_private_git(tree, Path(self.site.record.directory))
        if private is not None:
            lay_private_git(mask / ".git", private, (self.site.record.uid, self.site.record.gid))
        objects = private.objects if private is not None else ""
        record = self.site.record.model_copy(update={"git_objects": objects})
        self.site = replace(self.site, record=record)
        return notice

    def _own(self, path: Path) -> None:
        path.mkdir(exist_ok=True)
        if os.geteuid() == 0:
            os.chown(path, self.site.record.uid, self.site.record.gid)
