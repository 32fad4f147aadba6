"""Bind mode: the box works on the host's directory itself, so there is nothing to apply.

What policy protects is mounted read-only over it. A directory above a mount could be moved away
with it and made anew, so each of those is made a mount of its own, which the kernel keeps in place.
"""

from __future__ import annotations

import json
import stat
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.workspace.covers import cover
from orchestrator.workspace.globs import path_globs
from orchestrator.workspace.matches import find_matches
from orchestrator.workspace.node import Change, ChangeSet, Outcome
from orchestrator.workspace.record import save_record
from orchestrator.workspace.staging import OpenContent
from orchestrator.workspace.sweep import sweep
from orchestrator.workspace.tree import Tree, open_tree
from orchestrator.workspace.workspace import WORKDIR, Prepared, Site

_NOTICE = (
    "the box works on your files directly: there is no diff, no apply and no discard, and "
    "protected paths that do not exist yet can be made in it"
)


@dataclass(slots=True)
class BindWorkspace:
    """Mounts, and a list of the protected paths that stood there."""

    site: Site

    def prepare(self) -> Prepared:
        """Return the mounts; WorkspaceError where a protected or hidden path cannot be held."""
        record, folder = self.site.record, self.site.folder
        with open_tree(Path(record.directory)) as tree:
            protected = sorted(find_matches(tree, path_globs(record.protected)))
            hidden = sorted(find_matches(tree, path_globs(record.hidden)))
            mounts = self._mounts(tree, protected, hidden)
        (folder / "protected.json").write_text(json.dumps(protected), "ascii")
        save_record(folder, record)
        return Prepared("bind", mounts, record.uid, record.gid, notices=(_NOTICE,))

    def changes(self) -> ChangeSet:
        """Return no changes, but a note for every protected path that appeared."""
        record = self.site.record
        before = set(json.loads((self.site.folder / "protected.json").read_text("ascii")))
        with open_tree(Path(record.directory)) as tree:
            now = sorted(find_matches(tree, path_globs(record.protected)))
        return ChangeSet(
            SessionId(record.session),
            "bind",
            record.directory,
            notes=tuple(
                f"{path}: policy protects it, and it appeared during the session"
                for path in now
                if path not in before
            ),
        )

    def content(self) -> AbstractContextManager[OpenContent]:
        """Refuse every content: there is nothing to apply."""
        return nullcontext(_no_content)

    def settle(self, outcome: Outcome) -> None:
        """Do nothing: no change is ever applied."""

    def remove(self) -> None:
        """Remove the folder; the host's directory stays as it is."""
        sweep(self.site.folder)

    def _mounts(self, tree: Tree, protected: list[str], hidden: list[str]) -> tuple[Mount, ...]:
        root = self.site.record.directory
        mounts = [Mount("bind", root, WORKDIR)]
        pinned = {above for path in (*protected, *hidden) for above in _above(path)}
        mounts += [_bind(f"{root}/{path}", path) for path in sorted(pinned)]
        for path in protected:
            self._check(tree, path)
            mounts.append(_bind(f"{root}/{path}", path, read_only=True))
        for path in hidden:
            is_directory = self._check(tree, path)
            mounts.append(
                _bind(str(cover(self.site.folder, is_directory=is_directory)), path, read_only=True)
            )
        # A mount on top of another must come after it.
        return tuple(sorted(mounts, key=lambda mount: mount.target.count("/")))

    def _check(self, tree: Tree, path: str) -> bool:
        """Say whether the path is a directory; WorkspaceError where no mount can hold it."""
        info = tree.lstat(path)
        kind = stat.S_IFMT(info.st_mode) if info is not None else 0
        if kind not in {stat.S_IFREG, stat.S_IFDIR}:
            raise WorkspaceError(
                f"workspace mode bind: {path!r} is a link or a special file, so policy's hold on "
                "it could be undone",
                hint="use --workspace overlay or copy",
            )
        return kind == stat.S_IFDIR


def _bind(source: str, path: str, *, read_only: bool = False) -> Mount:
    return Mount("bind", source, f"{WORKDIR}/{path}", read_only=read_only)


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _no_content(change: Change) -> AbstractContextManager[int]:
    raise WorkspaceError(
        f"{change.path!r}: workspace mode bind: the changes are on the host already"
    )
