"""Directories that git takes for a repository though they are not called ``.git``. Pure.

Whoever enters one runs what its settings and hooks name. Git looks for a ``HEAD`` there; the rest
may stand elsewhere (``commondir``), be links, or arrive with a later apply. So a ``HEAD`` alone
marks its directory, whether it comes with the changes or is on the host already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

MEANING = "git repository in plain sight"
_HEAD = "head"
_PARTS = {
    _HEAD, "commondir", "config", "config.worktree", "gitdir", "hooks", "index", "info", "logs",
    "modules", "objects", "packed-refs", "refs", "worktrees",
}  # fmt: skip


class PlainRepositories:
    """The repositories in plain sight that a set of changed paths makes or touches."""

    def __init__(self, staying: Iterable[str], on_host: Callable[[str], bool]) -> None:
        """``staying`` are the files and links that the changes leave, relative to the top.

        ``on_host`` tells whether the host holds a file or a link of that path.
        """
        split = (path.rpartition("/") for path in staying)
        self._made = {folder for folder, _, name in split if name.lower() == _HEAD}
        self._on_host = on_host
        self._looked_at: dict[str, bool] = {}

    def own(self, path: str) -> bool:
        """Return whether git would read this path as a part of such a repository."""
        parts = path.split("/")
        return any(
            self._is_one("/".join(parts[:depth]))
            for depth, part in enumerate(parts)
            if part.lower() in _PARTS
        )

    def _is_one(self, folder: str) -> bool:
        if folder in self._made:
            return True
        if folder not in self._looked_at:
            self._looked_at[folder] = self._on_host(f"{folder}/HEAD".lstrip("/"))
        return self._looked_at[folder]
