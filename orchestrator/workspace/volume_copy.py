"""Copy mode: the host's directory goes into a volume as a tar stream and comes back as one.

For engines on other machines, directories of root, and hosts that cannot lay an overlay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from orchestrator.engine.volumes import copier, create_volume, remove_volume, require_volume
from orchestrator.errors import WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.workspace.assemble import assemble
from orchestrator.workspace.at_rest import rest_word
from orchestrator.workspace.contents import plain_node
from orchestrator.workspace.git_names import moved_repository
from orchestrator.workspace.git_settings import command_settings
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.hard_links import literal_glob
from orchestrator.workspace.manifest import (
    NEVER_SEEN,
    Manifest,
    Original,
    load_manifest,
    save_manifest,
    update_manifest,
)
from orchestrator.workspace.masking import find_kept, masked_content, unmask
from orchestrator.workspace.node import (
    Change,
    ChangeSet,
    Limits,
    Node,
    Observed,
    Outcome,
    is_git_internal,
    signature,
)
from orchestrator.workspace.picture import (
    drop_picture,
    keep_picture,
    load_picture,
    save_picture,
    take_picture,
)
from orchestrator.workspace.record import WorkspaceRecord, save_record
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.staging import OpenContent
from orchestrator.workspace.sweep import sweep
from orchestrator.workspace.tar_in import TarIn
from orchestrator.workspace.tar_out import TarOut
from orchestrator.workspace.tree import Tree, open_tree
from orchestrator.workspace.workspace import WORKDIR, Prepared, Site, with_hidden

PREFIX = WORKDIR.lstrip("/")
"""First component of every name in the archive of a volume."""

MANIFEST = "manifest.jsonl"
_SPARE = "-2"


@dataclass(slots=True)
class CopyWorkspace:
    """A volume, and a manifest of what went into it."""

    site: Site
    _spool: Spool = field(init=False)

    def __post_init__(self) -> None:
        """Contents that come back are kept in the session's folder."""
        self._spool = Spool(self.site.folder / "contents")

    def prepare(self) -> Prepared:
        """Fill the volume, or take up the one that this session has already."""
        record = self.site.record
        notices: tuple[str, ...] = ()
        if not self._manifest.exists():
            notices = self._fill()
            save_record(self.site.folder, self.site.record)
        self._require_volume()
        mount = Mount("volume", record.volume, WORKDIR)
        return Prepared("copy", (mount,), record.uid, record.gid, notices=notices)

    def changes(self) -> ChangeSet:
        """Compare the volume with the manifest; read again where it may have been written to."""
        record = self.site.record
        rest = rest_word(self.site)
        originals = load_manifest(self._manifest)
        box = self._look(originals, rest)
        manifest = Manifest(originals)
        with open_tree(Path(record.directory)) as host:
            observed = unmask(
                self._observe(originals, box, host), host, self._read, spool=self._spool
            )
            found = assemble(record, observed, host, baseline=manifest, limits=self.site.limits)
        return replace(found, rest=rest)

    @contextmanager
    def content(self) -> Iterator[OpenContent]:
        """Open contents that the last ``changes`` kept."""
        yield self._open

    def settle(self, outcome: Outcome) -> None:
        """Write applied changes into the manifest as if they had gone in."""
        now: dict[str, Original | None] = {}
        with open_tree(Path(self.site.record.directory)) as host:
            for path, node in outcome.now.items():
                info = host.lstat(path)
                if node is None or info is None:
                    now[path] = None
                elif path in outcome.merged:
                    # The host is ahead of the box, and must not be taken for what went in.
                    now[path] = Original(path, outcome.merged[path], NEVER_SEEN)
                else:
                    now[path] = Original(path, node, signature(info))
        keep_picture(self.site.folder, outcome)
        update_manifest(self._manifest, now)

    def remove(self) -> None:
        """Remove the volume and the folder."""
        remove_volume(self.site.engine, self.site.record.volume)
        # What a rewind that was cut off had begun to fill.
        remove_volume(self.site.engine, spare_volume(self.site.record))
        stuck = sweep(self.site.folder)
        if stuck:
            raise WorkspaceError(f"{self.site.folder}: {stuck[0]!r} cannot be removed")

    @property
    def _manifest(self) -> Path:
        return self.site.folder / MANIFEST

    def _require_volume(self) -> None:
        record = self.site.record
        require_volume(self.site.engine, record.volume, session=SessionId(record.session))

    def _fill(self) -> tuple[str, ...]:
        record, engine = self.site.record, self.site.engine
        # What an earlier, interrupted filling left would be taken for the box's work.
        remove_volume(engine, record.volume)
        create_volume(engine, record.volume, owner=self.site.owner)
        mount = Mount("volume", record.volume, WORKDIR)
        try:
            with open_tree(Path(record.directory)) as tree:
                kept = find_kept(tree, record.hidden)
                self.site = with_hidden(self.site, map(literal_glob, kept.twins))
                out = TarOut(
                    tree,
                    path_globs(self.site.record.hidden),
                    self.site.limits,
                    owner=(record.uid, record.gid),
                    prefix=PREFIX,
                    masked=kept.masked,
                )
                with copier(engine, record.image, mount, labels=self.site.labels) as helper:
                    helper.put("/", out.stream())
            save_manifest(self._manifest, out.originals)
        except BaseException:
            self._manifest.unlink(missing_ok=True)
            remove_volume(engine, record.volume)
            raise
        return tuple(f"not copied into the box: {line}" for line in out.left_out)

    def _look(self, originals: Mapping[str, Original], rest: str) -> dict[str, Node]:
        folder, of = self.site.folder, (self.site.record.volume, rest)
        self._require_volume()
        picture = load_picture(folder, self._spool, of=of)
        if picture is not None:
            return picture.whole(originals)
        drop_picture(folder)
        box = self._read_volume(originals)
        if rest:
            save_picture(folder, take_picture(box, originals, self._spool, of=of))
        return box

    def _read_volume(self, originals: Mapping[str, Original]) -> dict[str, Node]:
        record = self.site.record
        self._spool.clear()

        def known(path: str) -> str:
            original = originals.get(path)
            return original.node.sha256 if original is not None else ""

        mount = Mount("volume", record.volume, WORKDIR)
        with copier(self.site.engine, record.image, mount, labels=self.site.labels) as helper:
            base = {path: item.node.size for path, item in originals.items()}
            reading = TarIn(PREFIX, self.site.limits, self._spool, known, base)
            return reading.read(helper.get(WORKDIR))

    def _observe(
        self, originals: Mapping[str, Original], box: Mapping[str, Node], host: Tree
    ) -> Observed:
        base = {path: original.node for path, original in originals.items()}
        inside = [path for path in {*base, *box} if is_git_internal(path)]
        changed = [path for path in inside if _differs(base.get(path), box.get(path))]
        settings: tuple[str, ...] = ()
        for path in sorted(inside):
            if path.lower().endswith(".git/config") and path in box:
                settings += self._settings(box[path])
        return Observed(
            base={path: node for path, node in base.items() if not is_git_internal(path)},
            box={path: node for path, node in box.items() if not is_git_internal(path)},
            inside_git=len(changed),
            moved_repositories=frozenset().union(*map(moved_repository, changed)),
            git_settings=settings,
            kept=_unseen(base, box, host),
        )

    def _read(self, path: str, node: Node) -> bytes:
        if self._spool.holds(node.sha256):
            return self._spool.path(node.sha256).read_bytes()
        # What came back as it went in is not kept; it is what went in.
        with open_tree(Path(self.site.record.directory)) as host:
            return masked_content(host, path) or b""

    def _settings(self, node: Node) -> tuple[str, ...]:
        kept = self._spool.path(node.sha256) if node.sha256 else None
        if kept is None or not kept.exists():
            return ()
        return command_settings(kept.read_text("utf-8", "replace"))

    def _open(self, change: Change) -> AbstractContextManager[int]:
        return self._spool.opened(change.new.sha256 if change.new is not None else "")


def _unseen(base: Mapping[str, Node], box: Mapping[str, Node], host: Tree) -> frozenset[str]:
    """Return directories gone from the box that hold something which never went in."""
    kept: set[str] = set()
    for path, node in base.items():
        twin = box.get(path)
        gone = twin is None or twin.type != "directory"
        info = host.lstat(path) if node.type == "directory" and gone else None
        if info is None or plain_node(host, path, info).type != "directory":
            continue
        if any(child.path not in base for child in host.children(path)):
            parts = path.split("/")
            kept.update("/".join(parts[: count + 1]) for count in range(len(parts)))
    return frozenset(kept)


def _differs(old: Node | None, new: Node | None) -> bool:
    if old is None or new is None:
        return (old or new) is not None and "directory" not in {n.type for n in (old, new) if n}
    return (old.type, old.sha256, old.target) != (new.type, new.sha256, new.target)


def spare_volume(record: WorkspaceRecord) -> str:
    """Return the name of the volume that a rewind fills beside the present one."""
    if record.volume.endswith(_SPARE):
        return record.volume.removesuffix(_SPARE)
    return record.volume + _SPARE


def path_in_volume(limits: Limits) -> Callable[[str], str]:
    """Return what turns a name of a volume's archive into a path of the workspace."""
    return TarIn(PREFIX, limits, Spool(Path()), lambda _: "").path_of
