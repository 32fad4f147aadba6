"""Brings conflicts together where both sides' beginning is known, and keeps beginnings for later.

The beginning of a text is known where somebody looked at the change while the host still had it,
or where the repository holds the very content that went into a copy.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from orchestrator.errors import UsageError
from orchestrator.workspace.bases import Base, Bases
from orchestrator.workspace.conflicts import APPEARED, CHANGED, GONE
from orchestrator.workspace.contents import plain_node
from orchestrator.workspace.derived import box_text, derive, derived_spool, host_text
from orchestrator.workspace.globs import PathGlobs, chosen_globs
from orchestrator.workspace.merge3 import Favour, merge_texts
from orchestrator.workspace.node import PERMISSIONS, Change, ChangeSet, Outcome, signature
from orchestrator.workspace.spool import Spool
from orchestrator.workspace.staging import OpenContent
from orchestrator.workspace.tree import Tree, open_tree
from orchestrator.workspace.workspace import Workspace

FindBase = Callable[[Change], Base | None]
"""Another source of bases, asked where none was kept."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Whose lines win where both sides changed the same ones; globs, as for ``--path``."""

    ours: tuple[str, ...] = ()
    """The host's."""
    theirs: tuple[str, ...] = ()
    """The box's; also where nothing is known of how the two began."""

    def compile(self) -> Callable[[str], Favour]:
        """Return what tells the favoured side of a path; UsageError for a malformed glob."""
        ours, theirs = chosen_globs(self.ours, "--ours"), chosen_globs(self.theirs, "--theirs")

        def favour(path: str) -> Favour:
            is_ours, is_theirs = _covers(ours, path), _covers(theirs, path)
            if is_ours and is_theirs:
                raise UsageError(f"{path!r}: both --ours and --theirs name it")
            return "ours" if is_ours else "theirs" if is_theirs else ""

        return favour


def bring_together(
    workspace: Workspace, changes: ChangeSet, *, sides: Sides, find: FindBase | None = None
) -> ChangeSet:
    """Return the changes with conflicts merged where that can be, and keep new bases."""
    site = workspace.site
    spool = derived_spool(site.folder)
    if spool.directory.exists():
        spool.clear()
    if not changes.changes:
        return changes
    bases = Bases.load(site.folder)
    with open_tree(Path(site.record.directory)) as host, workspace.content() as content:
        merger = _Merger(host, content, spool, bases, sides.compile(), find or _nothing)
        found = [merger.look_at(c, copied=changes.mode == "copy") for c in changes.changes]
    bases.save()
    return replace(changes, changes=tuple(change for change in found if change is not None))


def note_outcome(workspace: Workspace, outcome: Outcome) -> None:
    """Bring the bases up to what an apply left; may be repeated."""
    bases = Bases.load(workspace.site.folder)
    bases.forget(outcome.now.keys() - outcome.partial)
    # An overlay shows the host's merged text from now on, a copy still has its own.
    if workspace.site.record.mode == "copy" and outcome.merged:
        with workspace.content() as content:
            for path, node in outcome.merged.items():
                with suppress(FileNotFoundError):
                    text = box_text(content, Change(path, "modified", node, node))
                    if text is not None:
                        bases.add(path, Base(text, node.mode & PERMISSIONS, node.sha256))
    bases.save()


def _nothing(change: Change) -> Base | None:  # noqa: ARG001 - a source that knows no base
    return None


@dataclass(frozen=True, slots=True)
class _Texts:
    base: Base
    ours: bytes
    theirs: bytes


@dataclass(frozen=True, slots=True)
class _Merger:
    host: Tree
    content: OpenContent
    spool: Spool
    bases: Bases
    favour: Callable[[str], Favour]
    find: FindBase

    def look_at(self, change: Change, *, copied: bool) -> Change | None:
        if change.refused or change.new is None or change.new.type != "file":
            return change
        if change.conflict in {CHANGED, APPEARED, GONE}:
            return self._settle_conflict(change, copied=copied)
        if change.kind in {"modified", "mode"} and not change.conflict:
            self._keep_base(change, copied=copied)
        return change

    def _keep_base(self, change: Change, *, copied: bool) -> None:
        known = self.bases.digest(change.path)
        if change.old is None or (known and (not copied or known == change.old.sha256)):
            return
        try:
            text = host_text(self.host, change.path, change.seen)
        except PermissionError:
            return
        if text is not None:
            digest = hashlib.sha256(text).hexdigest()
            if not copied or digest == change.old.sha256:
                mode = change.old.mode & PERMISSIONS
                self.bases.add(change.path, Base(text, mode, digest))

    def _settle_conflict(self, change: Change, *, copied: bool) -> Change | None:
        favour = self.favour(change.path)
        info = self.host.lstat(change.path)
        if info is None:
            return _brought_back(change) if favour == "theirs" else change
        if not stat.S_ISREG(info.st_mode) or change.seen != signature(info):
            return change
        texts = self._texts(change, copied=copied)
        if texts is not None:
            return self._merge(change, info, texts, favour)
        if favour == "theirs":
            return self._overwriting(change, info, "the box's version replaces yours, as asked")
        return change

    def _texts(self, change: Change, *, copied: bool) -> _Texts | None:
        """Return the three texts; None where one of them is missing."""
        try:
            ours = host_text(self.host, change.path, change.seen)
        except PermissionError:
            return None
        theirs = box_text(self.content, change)
        base = self._base(change, copied=copied) if ours is not None else None
        if base is None or ours is None or theirs is None:
            return None
        return _Texts(base, ours, theirs)

    def _merge(
        self, change: Change, info: os.stat_result, texts: _Texts, favour: Favour
    ) -> Change | None:
        merge = merge_texts(texts.base.data, texts.ours, texts.theirs, favour=favour)
        if merge.overlaps and not favour:
            places = f"{len(merge.overlaps)} places" if len(merge.overlaps) > 1 else "one place"
            why = f"{change.conflict}, and both sides changed {places}"
            return replace(change, conflict=why, overlaps=merge.overlaps)
        mode = stat.S_IMODE(info.st_mode) & PERMISSIONS
        if change.new is not None and change.new.mode & PERMISSIONS != texts.base.mode:
            mode = change.new.mode & PERMISSIONS
        if merge.data == texts.ours and mode == stat.S_IMODE(info.st_mode):
            return None
        how = "merged with your newer work"
        if merge.overlaps:
            whose = "your" if favour == "ours" else "the box's"
            how += f"; {whose} lines where both changed the same ({len(merge.overlaps)})"
        whole = self._overwriting(change, info, how)
        return derive(self.spool, whole, merge.data, mode=mode)

    def _base(self, change: Change, *, copied: bool) -> Base | None:
        if change.conflict == APPEARED:
            return Base(b"", 0, "")
        kept = self.bases.find(change.path)
        if kept is not None and (not copied or self._went_in(change, kept)):
            return kept
        return self.find(change)

    @staticmethod
    def _went_in(change: Change, base: Base) -> bool:
        return change.old is not None and change.old.sha256 == base.sha256

    def _overwriting(self, change: Change, info: os.stat_result, how: str) -> Change:
        now = plain_node(self.host, change.path, info)
        return replace(change, kind="modified", old=now, conflict="", merged=how)


def _brought_back(change: Change) -> Change:
    how = "you deleted it; the box's version comes back, as asked"
    return replace(change, kind="added", old=None, conflict="", merged=how)


def _covers(globs: PathGlobs | None, path: str) -> bool:
    return globs is not None and globs.covers(path)
