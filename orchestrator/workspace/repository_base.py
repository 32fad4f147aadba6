"""Finds in the host's repository the very text that went into a copy, for a merge.

A copy's manifest has the digest of what went in, so a blob is proved to be it, not guessed. Of an
overlay only what was kept while the host still had it is known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.bases import MOST_BYTES, Base
from orchestrator.workspace.host_git import GitFailed, HostGit
from orchestrator.workspace.host_repository import open_repository
from orchestrator.workspace.node import PERMISSIONS, Change
from orchestrator.workspace.workspace import Workspace

_COMMITS = "-n300"
"""How far back the history is looked through."""
_RAW = ("--raw", "--no-abbrev", "--no-renames", "-z")
_MOST_BLOBS = 50


def repository_base(workspace: Workspace) -> Callable[[Change], Base | None]:
    """Return what finds a change's base in the repository; it starts git only when asked."""
    record = workspace.site.record
    if record.mode != "copy":
        return lambda _: None
    return _Finder(Path(record.directory)).find


@dataclass(slots=True)
class _Finder:
    directory: Path
    _git: list[HostGit | None] = field(default_factory=list)

    def find(self, change: Change) -> Base | None:
        """Return the text with the digest of what went in; None where the repository has none."""
        old = change.old
        git = self._opened()
        if git is None or old is None or old.type != "file" or old.size > MOST_BYTES:
            return None
        try:
            for blob in self._candidates(git, change.path):
                if int(git.text("cat-file", "-s", blob)) == old.size:
                    data = git.output("cat-file", "blob", blob)
                    if hashlib.sha256(data).hexdigest() == old.sha256:
                        return Base(data, old.mode & PERMISSIONS, old.sha256)
        except GitFailed:
            # A broken repository knows no base; the change stays the conflict that it is.
            return None
        return None

    def _candidates(self, git: HostGit, path: str) -> Iterator[str]:
        """Yield blobs that stood at the path: in the index, then in its history."""
        seen: set[str] = set()
        # No path is given to either: git reads one as a pattern, and less well than this.
        listed = [line.partition("\t") for line in git.text("ls-files", "-s", "-z").split("\0")]
        found = [facts.split(" ")[1] for facts, _, name in listed if name == path]
        told = git.text("log", "--all", _COMMITS, "--format=", *_RAW).split("\0")
        for facts, name in zip(told[::2], told[1::2], strict=False):
            if name == path:
                found += facts.lstrip("\n").split(" ")[2:4]
        for blob in found:
            if blob not in seen and blob.strip("0") and len(seen) < _MOST_BLOBS:
                seen.add(blob)
                yield blob

    def _opened(self) -> HostGit | None:
        if not self._git:
            try:
                repository = open_repository(self.directory)
            except WorkspaceError:
                repository = None
            self._git.append(repository.git if repository is not None else None)
        return self._git[0]
