"""Which changes git on the host takes no notice of, by the host's own ignore files alone.

What a box writes into a ``.gitignore`` hides nothing: until it is applied, it is not the host's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pathspec import GitIgnoreSpec

from orchestrator.errors import WorkspaceError
from orchestrator.workspace.git_settings import MAX_CONFIG_BYTES
from orchestrator.workspace.host_git import GitFailed
from orchestrator.workspace.host_repository import HostRepository, open_repository
from orchestrator.workspace.node import Change, ChangeSet
from orchestrator.workspace.tree import Tree, open_tree

OpenRepository = Callable[[], HostRepository | None]
"""Returns the host's repository; asked only when something matches."""

_EXCLUDE = ".git/info/exclude"


def with_ignored(changes: ChangeSet) -> ChangeSet:
    """Return a session's changes, those marked that git ignores."""
    if not changes.changes:
        return changes
    directory = Path(changes.directory)
    with open_tree(directory) as host:
        marked = mark_ignored(changes.changes, host, lambda: open_repository(directory))
    return replace(changes, changes=marked)


def mark_ignored(
    changes: Iterable[Change], host: Tree, repository: OpenRepository
) -> tuple[Change, ...]:
    """Return the changes, those marked that git ignores: untracked, and matched by a pattern.

    Outside of a repository nothing is ignored. Where git cannot tell what it tracks, only what
    is new counts.
    """
    given = tuple(changes)
    if not given or host.lstat(".git") is None:
        return given
    rules = _Rules(host)
    matched = {change.path for change in given if rules.match(change.path)}
    if not matched:
        return given
    tracked = _tracked(repository)
    return tuple(
        replace(change, ignored=True)
        if change.path in matched
        and (change.kind == "added" if tracked is None else change.path not in tracked)
        else change
        for change in given
    )


@dataclass(slots=True)
class _Rules:
    host: Tree
    _files: dict[str, GitIgnoreSpec | None] = field(default_factory=dict)
    _directories: dict[str, bool] = field(default_factory=dict)

    def match(self, path: str) -> bool:
        """True where a pattern holds for the path, or for a directory above it."""
        above, _, _ = path.rpartition("/")
        return self._directory(above) or self._verdict(path)

    def _directory(self, path: str) -> bool:
        if not path:
            return False
        if path not in self._directories:
            above, _, _ = path.rpartition("/")
            self._directories[path] = self._directory(above) or self._verdict(f"{path}/")
        return self._directories[path]

    def _verdict(self, path: str) -> bool:
        """The nearest file that has a word on it decides, and in a file its last pattern."""
        above = path.rstrip("/").rpartition("/")[0]
        while True:
            prefix = f"{above}/" if above else ""
            spec = self._file(f"{prefix}.gitignore")
            said = spec.check_file(path.removeprefix(prefix)).include if spec else None
            if said is not None:
                return said
            if not above:
                break
            above = above.rpartition("/")[0]
        spec = self._file(_EXCLUDE)
        return bool(spec and spec.check_file(path).include)

    def _file(self, path: str) -> GitIgnoreSpec | None:
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def _read(self, path: str) -> GitIgnoreSpec | None:
        info = self.host.lstat(path)
        if info is None or not stat.S_ISREG(info.st_mode):
            return None
        try:
            with self.host.file(path) as fd:
                text = os.read(fd, MAX_CONFIG_BYTES).decode("utf-8", "surrogateescape")
        except PermissionError:
            return None
        return GitIgnoreSpec.from_lines(line for line in text.splitlines() if _sound(line))


def _sound(line: str) -> bool:
    """False for a line that is no pattern, which git passes over too."""
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _tracked(repository: OpenRepository) -> frozenset[str] | None:
    """Return the paths in the index, None where git cannot be asked."""
    try:
        found = repository()
        if found is None:
            return None
        return frozenset(found.git.text("ls-files", "-z").split("\0"))
    except (GitFailed, WorkspaceError):
        return None
