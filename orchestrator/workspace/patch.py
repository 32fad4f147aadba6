"""Reads both sides of each change and yields the patch; the one reader of contents for showing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestrator.workspace.derived import open_contents
from orchestrator.workspace.diff_text import (
    Texts,
    count_lines,
    hunk_lines,
    overlap_lines,
    patch_lines,
)
from orchestrator.workspace.line_diff import find_hunks, pair_digest, split_lines
from orchestrator.workspace.node import Change, ChangeSet, Node
from orchestrator.workspace.staging import OpenContent
from orchestrator.workspace.tree import Tree, open_tree
from orchestrator.workspace.workspace import Workspace

MOST_SHOWN = 1024 * 1024
"""Bytes of a file up to which its text is shown."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One change with what is shown of it, raw."""

    change: Change
    lines: tuple[str, ...]
    """Its whole patch."""
    hunks: tuple[tuple[str, ...], ...]
    """The parts that can be chosen, by number from 1."""
    digest: str
    """What the numbers hold for; empty where there are none."""


@dataclass(frozen=True, slots=True)
class PatchForm:
    """What a patch is for: reading by a person, as it stands, or a patch tool."""

    numbered: bool = False
    """Number the hunks; from then on an apply of hunks goes by these numbers."""
    overlaps: bool = True
    """Show, after a conflict's patch, the places that both sides changed."""
    ignored: bool = False
    """Show what git ignores too."""


@dataclass(frozen=True, slots=True)
class PatchReader:
    """Open on a host directory and a box's contents; ``open_patch`` makes it."""

    host: Tree
    content: OpenContent

    def lines(self, changes: ChangeSet, form: PatchForm) -> Iterator[str]:
        """Yield the whole patch, raw: escape it before a terminal sees it."""
        for change in changes.changes:
            if not change.renamed_to and (form.ignored or not change.ignored):
                yield from patch_lines(change, self.texts(change), numbered=form.numbered)
                if form.overlaps:
                    yield from overlap_lines(change)

    def piece(self, change: Change) -> Piece:
        """Return one change as a person is asked about it."""
        texts = self.texts(change)
        hunks = pieces_of(texts) if change.kind == "modified" else ()
        lines = tuple(patch_lines(change, texts))
        digest = pair_digest(texts.old or b"", texts.new or b"")
        return Piece(change, lines, hunks, digest if hunks else "")

    def digests(self, changes: ChangeSet) -> dict[str, str]:
        """Return by path what the numbers of hunks hold for, of those changes that have hunks."""
        texts = ((c.path, self.texts(c)) for c in changes.changes if c.kind == "modified")
        return {p: pair_digest(t.old or b"", t.new or b"") for p, t in texts if not t.why_not}

    def counts(self, changes: ChangeSet) -> dict[str, tuple[int, int]]:
        """Return added and removed lines by path, of those changes that are text."""
        found = {}
        for change in changes.changes:
            if change.ignored:
                continue
            texts = self.texts(change)
            if not texts.why_not and not change.renamed_from and not change.renamed_to:
                found[change.path] = count_lines(texts)
        return found

    def texts(self, change: Change) -> Texts:
        """Return both sides as far as they are shown."""
        nodes = [node for node in (change.old, change.new) if node is not None]
        trouble = next((node.trouble for node in nodes if node.trouble), "")
        if trouble:
            return Texts(None, None, trouble)
        if any(node.type not in {"file", "symlink", "directory"} for node in nodes):
            return Texts(None, None, "special file")
        if any(node.size > MOST_SHOWN for node in nodes):
            sizes = " -> ".join(f"{node.size} bytes" for node in nodes)
            return Texts(None, None, f"too large to show ({sizes})")
        if change.kind == "mode":
            return Texts(b"", b"")
        try:
            old, new = self._old(change), self._new(change)
        except OSError as err:
            return Texts(None, None, f"cannot be read: {err.strerror}")
        if b"\0" in old[:8000] or b"\0" in new[:8000]:
            return Texts(None, None, "binary")
        return Texts(old, new)

    def _old(self, change: Change) -> bytes:
        """Return what the host has now; a file that moved on is a conflict and shown as it is."""
        if change.old is None or change.old.type == "directory":
            return b""
        if change.old.type == "symlink":
            return os.fsencode(change.old.target)
        with self.host.file(change.path) as fd:
            return os.read(fd, MOST_SHOWN)

    def _new(self, change: Change) -> bytes:
        node: Node | None = change.new
        if node is None or node.type == "directory":
            return b""
        if node.type == "symlink":
            return os.fsencode(node.target)
        with self.content(change) as fd:
            return os.read(fd, MOST_SHOWN)


def pieces_of(texts: Texts) -> tuple[tuple[str, ...], ...]:
    """Return the lines of each hunk; none where there is no text."""
    if texts.why_not:
        return ()
    old, new = split_lines(texts.old), split_lines(texts.new)
    return tuple(tuple(hunk_lines(hunk, old, new)) for hunk in find_hunks(old, new))


@contextmanager
def open_patch(workspace: Workspace) -> Iterator[PatchReader]:
    """Open both sides of a workspace whose changes were just read."""
    with ExitStack() as stack:
        host = stack.enter_context(open_tree(Path(workspace.site.record.directory)))
        content = stack.enter_context(open_contents(workspace))
        yield PatchReader(host, content)
