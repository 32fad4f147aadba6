"""Makes a copy's volume anew, as a snapshot says: a second volume, proved, then taken instead.

Until the session's record names the new volume nothing has changed; the old one goes afterwards.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from orchestrator.engine.volumes import copier, create_volume, remove_volume
from orchestrator.errors import WorkspaceError
from orchestrator.schema.mount import Mount
from orchestrator.workspace.at_rest import note_writer
from orchestrator.workspace.contents import CHUNK, read_chunks
from orchestrator.workspace.node import Limits
from orchestrator.workspace.record import save_record
from orchestrator.workspace.snapshots_contents import Contents
from orchestrator.workspace.snapshots_piece import Piece, Pieces
from orchestrator.workspace.snapshots_salvage import salvage
from orchestrator.workspace.snapshots_scan import scan
from orchestrator.workspace.snapshots_volume import SECOND_NS, PathOf, VolumeLayer, archive_of
from orchestrator.workspace.tree import Tree
from orchestrator.workspace.volume_copy import PREFIX, path_in_volume, spare_volume
from orchestrator.workspace.workspace import WORKDIR, Site

_BLOCK = tarfile.BLOCKSIZE
_KINDS = {
    "file": tarfile.REGTYPE,
    "directory": tarfile.DIRTYPE,
    "symlink": tarfile.SYMTYPE,
    "fifo": tarfile.FIFOTYPE,
}


def rebuild_volume(
    site: Site, wanted: Pieces, *, present: Pieces, contents: Contents, host: Tree
) -> None:
    """Make the session's files what ``wanted`` says; WorkspaceError, and nothing has changed."""
    record, engine = site.record, site.engine
    _gather(wanted, present, contents, host)
    name = spare_volume(record)
    remove_volume(engine, name)
    create_volume(engine, name, owner=site.owner)
    try:
        _fill(site, name, wanted, present=present, contents=contents)
        _prove(site, name, wanted, contents)
    except BaseException:
        remove_volume(engine, name)
        raise
    # Names of volumes come again, what was read of them does not hold again.
    note_writer(site.folder)
    save_record(site.folder, record.model_copy(update={"volume": name}))
    _sync(site)
    remove_volume(engine, record.volume)


def _gather(wanted: Pieces, present: Pieces, contents: Contents, host: Tree) -> None:
    """Have every content at hand, or raise WorkspaceError with the first that is not."""
    for path, piece in sorted(wanted.items()):
        if piece.type not in _KINDS or piece.lost:
            stays = piece.type == "file" and piece.same(present.get(path))
            if not stays:
                raise _missing(path, piece.lost or f"it is a {piece.type}")
        elif piece.type == "file" and not piece.same(present.get(path)):
            salvage(path, piece.sha256, contents=contents, host=host)
            if not contents.has(piece.sha256):
                raise _missing(path, "it went in from your directory, which has another by now")


def _missing(path: str, why: str) -> WorkspaceError:
    return WorkspaceError(
        f"{path!r}: the snapshot does not hold its content: {why}; nothing has changed",
        hint="choose another snapshot: glovebox rewind --list",
    )


def _fill(site: Site, name: str, wanted: Pieces, *, present: Pieces, contents: Contents) -> None:
    record, engine = site.record, site.engine
    old, new = (Mount("volume", volume, WORKDIR) for volume in (record.volume, name))
    with (
        copier(engine, record.image, old, labels=site.labels) as source,
        copier(engine, record.image, new, labels=site.labels) as target,
    ):
        archive = _Archive(wanted, present, contents, path_in_volume(site.limits), site.limits)
        target.put("/", archive.stream(source.get(WORKDIR)))


def _prove(site: Site, name: str, wanted: Pieces, contents: Contents) -> None:
    """Read the new volume back: what differs would be found out by the person else."""
    mount = Mount("volume", name, WORKDIR)
    path_of = path_in_volume(site.limits)
    with copier(site.engine, site.record.image, mount, labels=site.labels) as helper:
        layer = VolumeLayer(helper.get(WORKDIR), path_of, site.limits, site.limits.bytes, wanted)
        found = scan(layer, {}, contents, limits=site.limits)
    wrong = [p for p in {*found, *wanted} if p and not _equal(found.get(p), wanted.get(p))]
    if wrong:
        raise WorkspaceError(
            f"{min(wrong)!r}: the engine did not make it as the snapshot has it; nothing has "
            f"changed ({len(wrong)} names in all)",
            hint="see `docker info` for the engine's volume driver",
        )


def _equal(found: Piece | None, wanted: Piece | None) -> bool:
    if found is None or wanted is None:
        return found is wanted
    return bool(wanted.lost) or found.same(wanted)


@dataclass(frozen=True, slots=True)
class _Archive:
    """The new volume's archive: directories, what stays, what comes back, links."""

    wanted: Pieces
    present: Pieces
    contents: Contents
    path_of: PathOf
    limits: Limits

    def stream(self, old: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the archive in large blocks."""
        block = bytearray()
        for piece in self._pieces(old):
            block += piece
            if len(block) >= CHUNK:
                yield bytes(block)
                block.clear()
        yield bytes(block)

    def _pieces(self, old: Iterable[bytes]) -> Iterator[bytes]:
        ordered = sorted(self.wanted.items())
        yield from (_header(p, piece) for p, piece in ordered if piece.type == "directory")
        yield from self._staying(old)
        for path, piece in ordered:
            if piece.type == "file" and not piece.twin and not piece.same(self.present.get(path)):
                yield from self._kept(path, piece)
        for path, piece in ordered:
            if piece.twin or piece.type not in {"file", "directory"}:
                yield _header(path, piece)
        yield bytes(2 * _BLOCK)

    def _staying(self, old: Iterable[bytes]) -> Iterator[bytes]:
        """Pass through what the old volume has and the new one shall have."""
        archive = archive_of(old, self.limits, self.present)
        for member in archive.members():
            path = self.path_of(member.name)
            now = self.present.get(path)
            if now is None or not member.isreg():
                continue
            # The archive may name another one of a file's names first.
            first = now.twin or path
            piece = self.wanted.get(first)
            if piece is not None and not piece.twin and piece.same(self.present.get(first)):
                if member.size != piece.size:
                    raise WorkspaceError(f"{path!r}: it is another file by now")
                yield _header(first, piece)
                yield from archive.data()
                yield bytes(-piece.size % _BLOCK)

    def _kept(self, path: str, piece: Piece) -> Iterator[bytes]:
        yield _header(path, piece)
        fd = self.contents.open(piece.sha256)
        try:
            yield from read_chunks(fd)
        finally:
            os.close(fd)
        yield bytes(-piece.size % _BLOCK)


def _header(path: str, piece: Piece) -> bytes:
    member = tarfile.TarInfo(f"{PREFIX}/{path}".rstrip("/"))
    member.type = tarfile.LNKTYPE if piece.twin else _KINDS[piece.type]
    member.size = 0 if piece.twin or piece.type != "file" else piece.size
    member.mode = piece.mode
    member.mtime = piece.mtime_ns // SECOND_NS
    member.uid, member.gid = piece.uid, piece.gid
    member.linkname = f"{PREFIX}/{piece.twin}" if piece.twin else piece.target
    return member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


def _sync(site: Site) -> None:
    fd = os.open(site.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
