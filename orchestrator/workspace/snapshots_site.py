"""Snapshots of one session's workspace: how its mode is read, and what an apply means for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from orchestrator.engine.volumes import copier, frozen
from orchestrator.errors import WorkspaceError
from orchestrator.schema.mount import Mount
from orchestrator.workspace.at_rest import is_first_writer
from orchestrator.workspace.contents import plain_node
from orchestrator.workspace.manifest import load_manifest
from orchestrator.workspace.masking import is_too_large, masked_content
from orchestrator.workspace.node import Change
from orchestrator.workspace.snapshots import FOLDER, MOST_BYTES, Snapshots, Taken
from orchestrator.workspace.snapshots_piece import Piece
from orchestrator.workspace.snapshots_salvage import salvage
from orchestrator.workspace.snapshots_scan import Layer
from orchestrator.workspace.snapshots_upper import UpperLayer
from orchestrator.workspace.snapshots_volume import FreshLayer, VolumeLayer, first_layer
from orchestrator.workspace.snapshots_words import Kind, Moment
from orchestrator.workspace.tree import Tree, open_tree
from orchestrator.workspace.volume_copy import MANIFEST, path_in_volume
from orchestrator.workspace.workspace import WORKDIR, Site

WHY_NOT = {
    "bind": "the box works on your own files, so going back in them is yours: use git",
    "none": "its files are in memory and gone with the box",
}


def require_kept(site: Site) -> None:
    """Raise WorkspaceError, which says why, for a mode that has no snapshots."""
    why = WHY_NOT.get(site.record.mode)
    if why:
        raise WorkspaceError(
            f"session {site.record.session}: workspace mode {site.record.mode} has no snapshots: "
            f"{why}",
            hint="the conversation alone can be rewound: --conversation",
        )


def open_snapshots(site: Site) -> Snapshots:
    """Load what there is; WorkspaceError where the mode has none or they are broken."""
    require_kept(site)
    snapshots = Snapshots.open(site.folder, site.limits)
    snapshots.most_bytes = min(MOST_BYTES, site.record.disk_bytes)
    snapshots.hold = lambda: frozen(site.engine, site.record.volume)
    return snapshots


def take_snapshot(
    site: Site, snapshots: Snapshots, moment: Moment, *, host: Tree, restored: int = 0
) -> Taken:
    """Add a snapshot where files changed; the session's lock is held, the box may run."""
    if site.record.mode == "copy":
        return _take_copy(site, snapshots, moment, host=host, restored=restored)

    @contextmanager
    def opened() -> Iterator[Layer]:
        with (
            open_tree(site.folder / "upper") as upper,
            closing(UpperLayer(upper, site.limits, snapshots.most_bytes)) as layer,
        ):
            yield layer

    def stands_below(path: str) -> bool:
        return host.lstat(path) is not None

    return snapshots.take(opened, moment, stands_below=stands_below, restored=restored)


def _take_copy(
    site: Site, snapshots: Snapshots, moment: Moment, *, host: Tree, restored: int
) -> Taken:
    record, state = site.record, snapshots.log.state
    originals = load_manifest(site.folder / MANIFEST) if not state else {}
    # Whatever runs in the session's first box waits for this snapshot.
    fresh = not state and moment.kind == "start" and is_first_writer(site.folder)
    known = state or first_layer(originals.values(), uid=record.uid, gid=record.gid)

    @contextmanager
    def opened() -> Iterator[Layer]:
        # An archive of what is written meanwhile would be torn; at the start nothing runs yet.
        hold = nullcontext() if moment.kind == "start" else snapshots.hold()
        mount = Mount("volume", record.volume, WORKDIR)
        with hold, copier(site.engine, record.image, mount, labels=site.labels) as helper:
            path_of = path_in_volume(site.limits)
            chunks = helper.get(WORKDIR)
            layer = VolumeLayer(chunks, path_of, site.limits, snapshots.most_bytes, known)
            yield FreshLayer(layer, known) if fresh else layer

    return snapshots.take(
        opened,
        moment,
        stands_below=lambda _: False,
        restored=restored,
        salvage=lambda path, sha256: salvage(path, sha256, contents=snapshots.contents, host=host),
    )


def before_apply(site: Site, changes: Iterable[Change]) -> None:
    """Keep what the host has where it is about to get something else, for older snapshots."""
    if not _has_any(site):
        return
    snapshots = open_snapshots(site)
    with open_tree(Path(site.record.directory)) as host:
        below = {
            path: _host_piece(path, host, snapshots)
            for path in (_highest_absent(change.path, host) for change in changes)
        }
    snapshots.note_below(_at_newest(snapshots, "below"), below)


def after_apply(site: Site) -> None:
    """Note that what was applied is no longer the layer's own."""
    if _has_any(site):
        snapshots = open_snapshots(site)
        with open_tree(Path(site.record.directory)) as host:
            take_snapshot(site, snapshots, _at_newest(snapshots, "apply"), host=host)


def _has_any(site: Site) -> bool:
    return site.record.mode == "overlay" and (site.folder / FOLDER).exists()


def _at_newest(snapshots: Snapshots, kind: Kind) -> Moment:
    listed = snapshots.log.snapshots
    return replace(listed[-1].moment, kind=kind) if listed else Moment(kind)


def _highest_absent(path: str, host: Tree) -> str:
    """Return the topmost part of a path that the host does not have, or all of it."""
    parts = path.split("/")
    for count in range(1, len(parts)):
        above = "/".join(parts[:count])
        if host.lstat(above) is None:
            return above
    return path


def _host_piece(path: str, host: Tree, snapshots: Snapshots) -> Piece | None:
    info = host.lstat(path)
    if info is None:
        return None
    node = plain_node(host, path, info)
    piece = Piece(
        node.type,
        node.mode,
        info.st_uid,
        info.st_gid,
        info.st_mtime_ns,
        size=node.size,
        target=node.target,
    )
    if node.type != "file":
        return piece
    if is_too_large(host, path):
        return replace(piece, lost="it may hold credentials, and stays out of the box")
    try:
        # What a rewind puts before the box must be what the box saw: no credential.
        masked = masked_content(host, path)
        if masked is not None:
            found = snapshots.contents.keep([masked], size=len(masked))
        else:
            with host.file(path) as fd:
                found = snapshots.contents.keep_file(fd, size=node.size)
    except PermissionError:
        return replace(piece, lost="it could not be read on the host")
    return replace(piece, sha256=found.sha256, size=found.size)
