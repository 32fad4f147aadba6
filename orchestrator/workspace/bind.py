"""Bind mode: the box works on the host's directory itself, so there is nothing to apply.

What policy protects is mounted read-only over it. A directory above a mount could be moved away
with it and made anew, so each of those is made a mount of its own, which the kernel keeps in place.
"""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine
from orchestrator.engine.containers import find_containers, wait_gone
from orchestrator.engine.labels import BOX
from orchestrator.errors import WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.workspace.covers import cover, cover_mount, masked_cover
from orchestrator.workspace.doors import (
    Door,
    check_doors,
    door_covers,
    door_notice,
    find_doors,
)
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.hard_links import outside_links
from orchestrator.workspace.late import late_notes
from orchestrator.workspace.late_doors import Looked, note_doors
from orchestrator.workspace.masking import Kept, find_kept
from orchestrator.workspace.matches import find_matches
from orchestrator.workspace.node import Change, ChangeSet, Outcome
from orchestrator.workspace.placeholders import (
    PLACEHOLDERS,
    make_placeholders,
    missing_directories,
    remove_placeholders,
)
from orchestrator.workspace.presence import is_gone
from orchestrator.workspace.record import WorkspaceRecord, load_record, locked, save_record
from orchestrator.workspace.set_ids import set_id_notes
from orchestrator.workspace.staging import OpenContent
from orchestrator.workspace.sweep import sweep
from orchestrator.workspace.tree import Tree, open_tree
from orchestrator.workspace.workspace import WORKDIR, Prepared, Site

_NOTICE = (
    "the box works on your files directly: there is no diff, no apply and no discard. What policy "
    "protects is read-only where it exists; directories that it names at the top are held even "
    "before they exist. A protected file that is new, or that is new further down, is only told of "
    "at the end"
)
_SHARED_OBJECTS = (
    ".git/objects shares files with another repository, which the box could therefore damage"
)
_GONE_S = 2.0
"""How long the engine may take to forget a box that has ended."""
_MOST_NAMED = 5
_YOUNG_S = 300.0


@dataclass(slots=True)
class BindWorkspace:
    """Mounts, and lists of the protected paths and the doors to the host that stood there."""

    site: Site

    def prepare(self) -> Prepared:
        """Return the mounts; WorkspaceError where a protected or hidden path cannot be held."""
        record, folder = self.site.record, self.site.folder
        with open_tree(Path(record.directory)) as tree:
            notices = (_NOTICE, *_check_links(tree))
            kept = find_kept(tree, record.hidden, pass_deep=True)
            doors = find_doors(tree, closed=kept.hidden)
            check_doors(doors, named="workspace mode bind", hint="use --workspace overlay or copy")
            notices += door_notice(doors, "workspace")
            before = _protected(tree, record)
            missing = missing_directories(tree, record.protected)
            owner = (record.uid, record.gid)
            made = make_placeholders(tree, missing, folder=folder, owner=owner)
            try:
                mounts = self._mounts(tree, sorted({*before, *made}), kept, doors=doors)
            except BaseException:
                remove_placeholders(tree, folder)
                raise
        (folder / "protected.json").write_text(json.dumps(before), "ascii")
        looked = Looked(tuple(doors), kept.hidden)
        note_doors(folder, "workspace", {Path(record.directory): looked})
        save_record(folder, record)
        return Prepared("bind", mounts, record.uid, record.gid, notices=notices)

    def changes(self) -> ChangeSet:
        """Return no changes, but a note for every protected path that appeared."""
        record = self.site.record
        before = set(json.loads((self.site.folder / "protected.json").read_text("ascii")))
        self._tidy()
        with open_tree(Path(record.directory)) as tree:
            now = _protected(tree, record)
            notes = [
                f"{path}: policy protects it, and it appeared during the session"
                for path in now
                if path not in before and not _is_empty_directory(tree, path)
            ]
            notes += late_notes(tree, record, covered=lambda _: False)
            notes += set_id_notes(tree, since_ns=record.started_ns)
        return ChangeSet(SessionId(record.session), "bind", record.directory, notes=tuple(notes))

    def _tidy(self) -> None:
        """Remove the placeholders once the box is gone; before, each is what a mount stands on."""
        if _is_boxless(self.site.engine, self.site.record.session):
            _clear(Path(self.site.record.directory), self.site.folder)

    def content(self) -> AbstractContextManager[OpenContent]:
        """Refuse every content: there is nothing to apply."""
        return nullcontext(_no_content)

    def settle(self, outcome: Outcome) -> None:
        """Do nothing: no change is ever applied."""

    def remove(self) -> None:
        """Remove the folder and the placeholders; the host's directory else stays as it is."""
        self._tidy()
        sweep(self.site.folder)

    def _mounts(
        self, tree: Tree, protected: list[str], kept: Kept, *, doors: Sequence[Door]
    ) -> tuple[Mount, ...]:
        root, folder = self.site.record.directory, self.site.folder
        mounts = [Mount("bind", root, WORKDIR), *door_covers(doors, WORKDIR, folder)]
        shut = {door.path for door in doors}
        hidden = [path for path in kept.hidden if path not in shut]
        # A door needs none: its cover moves along with the directory.
        pinned = {
            above for path in (*protected, *kept.hidden, *kept.masked) for above in _above(path)
        }
        # Below what is read-only nothing can be moved, and a mount there would be writable again.
        fixed = {*protected}
        pinned = {path for path in pinned if fixed.isdisjoint((path, *_above(path)))}
        mounts += [_bind(f"{root}/{path}", path) for path in sorted(pinned)]
        for path in protected:
            if path not in {*shut, *kept.hidden, *kept.masked}:
                self._check(tree, path)
                mounts.append(_bind(f"{root}/{path}", path, read_only=True))
        for path in hidden:
            is_directory = self._check(tree, path)
            source = cover(folder, is_directory=is_directory)
            mounts.append(_bind(source, path, read_only=True))
        for number, (path, content) in enumerate(sorted(kept.masked.items())):
            source = masked_cover(folder, number, content)
            mounts.append(_bind(source, path, read_only=True))
        # A mount on top of another must come after it.
        return tuple(sorted(mounts, key=lambda mount: mount.target.count("/")))

    def _check(self, tree: Tree, path: str) -> bool:
        """Say whether the path is a directory; WorkspaceError where no mount can hold it."""
        info = tree.lstat(path)
        kind = stat.S_IFMT(info.st_mode) if info is not None else 0
        if kind not in {stat.S_IFREG, stat.S_IFDIR}:
            raise WorkspaceError(
                f"workspace mode bind: {path!r} is a link, so policy's hold on it could be undone",
                hint="use --workspace overlay or copy",
            )
        return kind == stat.S_IFDIR


AtRest = Callable[[SessionId], AbstractContextManager[bool | None]]
"""Keeps a session's process away meanwhile: True where none has it, None where that is not known."""


def tidy_dead_binds(paths: Paths, engine: Engine, *, at_rest: AtRest) -> list[SessionId]:
    """Remove what killed sessions of this mode left in people's directories; returns whose it was."""
    found = []
    for listed in sorted((paths.state / "work").glob(f"*/{PLACEHOLDERS}")):
        session = SessionId(listed.parent.name)
        with at_rest(session) as resting:
            if resting is False or not _is_boxless(engine, session):
                continue
            if _tidy_dead(listed, known_dead=resting is True):
                found.append(session)
    return found


def _is_boxless(engine: Engine, session: str) -> bool:
    """Say whether a session has no box; one that has just ended is waited for."""
    boxes = find_containers(engine, session=session, kind=BOX)
    return all(wait_gone(engine, box.id, _GONE_S) for box in boxes)


def _tidy_dead(listed: Path, *, known_dead: bool) -> bool:
    folder = listed.parent
    try:
        with locked(folder):
            record = load_record(folder)
            # One that is just being prepared has neither a session file nor a box yet.
            young = not known_dead and time.time() - listed.stat().st_mtime < _YOUNG_S
            if record is None or young:
                return False
            return _clear(Path(record.directory), folder)
    except (WorkspaceError, OSError):
        # Another command works on it, or the directory cannot be reached now: the next sweep comes.
        return False


def _clear(directory: Path, folder: Path) -> bool:
    """Remove the placeholders from a project; False where that is gone, and they with it."""
    if is_gone(directory):
        (folder / PLACEHOLDERS).unlink(missing_ok=True)
        return False
    with open_tree(directory) as tree:
        remove_placeholders(tree, folder)
    return True


def _protected(tree: Tree, record: WorkspaceRecord) -> list[str]:
    return sorted(find_matches(tree, path_globs(record.protected), pass_deep=True))


def _bind(source: Path | str, path: str, *, read_only: bool = False) -> Mount:
    return cover_mount(source, WORKDIR, path, read_only=read_only)


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _no_content(change: Change) -> AbstractContextManager[int]:
    raise WorkspaceError(
        f"{change.path!r}: workspace mode bind: the changes are on the host already"
    )


def _check_links(tree: Tree) -> tuple[str, ...]:
    """Raise WorkspaceError where a write would reach a file outside by its other name."""
    linked = outside_links(tree)
    objects = [path for path in linked if path.startswith(".git/objects/")]
    others = [path for path in linked if path not in set(objects)]
    if others:
        raise WorkspaceError(
            f"workspace mode bind: {len(others)} files have another name outside the directory, "
            f"which the box would write to: {', '.join(map(repr, others[:_MOST_NAMED]))}",
            hint="use --workspace overlay or copy, where a write makes a file of its own",
        )
    return (_SHARED_OBJECTS,) if objects else ()


def _is_empty_directory(tree: Tree, path: str) -> bool:
    info = tree.lstat(path)
    return info is not None and stat.S_ISDIR(info.st_mode) and not tree.children(path)
