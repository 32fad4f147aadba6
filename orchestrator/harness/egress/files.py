"""The files that a session's policy comes from, and whether one of them is another by now.

What is looked at is what the system says of a file, not its content: a look costs microseconds.
Files that are not there yet are looked for too.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.errors import GloveboxError
from orchestrator.harness.options import RunOptions
from orchestrator.harness.project_file import WHAT, project_roots
from orchestrator.policy.gather import files_of
from orchestrator.policy.installed import SYSTEM
from orchestrator.policy.owned_folder import OwnedFolder

_Stamp = tuple[int, ...] | None


class PolicyFiles:
    """One session's."""

    def __init__(self, options: RunOptions, paths: Paths, *, system: OwnedFolder = SYSTEM) -> None:
        """Look at everything once; what is as it is now has not changed."""
        self._options = options
        self._paths = paths
        self._system = system
        self._named = self._find_named()
        self._stamps = {path: _stamp(path) for path in self._all()}
        self._unsettled: tuple[Path, ...] = ()

    def changed(self) -> tuple[Path, ...]:
        """Return what is another than at the last look, or was another then for the first time.

        A file may be written twice within one tick of the system's clock.
        """
        before, now = self._stamps, {path: _stamp(path) for path in self._all()}
        fresh = tuple(path for path in {**before, **now} if before.get(path) != now.get(path))
        if fresh:
            # What one file extends may be another file now.
            self._named = self._find_named()
            now = {path: now[path] if path in now else _stamp(path) for path in self._all()}
        again, self._unsettled, self._stamps = self._unsettled, fresh, now
        return tuple(dict.fromkeys((*fresh, *again)))

    def _all(self) -> Iterable[Path]:
        yield from self._named
        yield from self._installed()
        for root in project_roots(self._options.directory):
            yield root / WHAT
        yield self._paths.state / "trust"

    def _find_named(self) -> tuple[Path, ...]:
        user = self._paths.config / "policy.yaml"
        return files_of((*self._options.policies, str(user)), search=asset("policies"))

    def _installed(self) -> Iterable[Path]:
        yield self._system.path
        try:
            names = self._system.entries()
        except GloveboxError:
            # It is told of where the policy is loaded.
            names = frozenset()
        yield from (self._system.path / name for name in sorted(names))


def _stamp(path: Path) -> _Stamp:
    try:
        found = path.stat()
    except OSError:
        return None
    return (
        found.st_dev,
        found.st_ino,
        found.st_mode,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )
