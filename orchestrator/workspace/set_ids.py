"""Programs that a box left with set-user-id or set-group-id bits in a directory it wrote live."""

from __future__ import annotations

import stat
from collections.abc import Iterator

from orchestrator.workspace.tree import Found, Tree

_BITS = stat.S_ISUID | stat.S_ISGID
_MOST_TOLD = 20


def set_id_notes(tree: Tree, *, since_ns: int) -> Iterator[str]:
    """Yield one line for each such file that was made or changed since then, by its change time."""
    late = [found for found in _files(tree) if found.stat.st_ctime_ns > since_ns]
    for found in late[:_MOST_TOLD]:
        kind = "set-user-id" if found.stat.st_mode & stat.S_ISUID else "set-group-id"
        yield (
            f"{found.path}: {kind} since the session began (mode "
            f"{stat.S_IMODE(found.stat.st_mode):04o}): whoever runs it does so with the rights of "
            f"{found.stat.st_uid}:{found.stat.st_gid}; chmod ug-s takes that away"
        )
    if len(late) > _MOST_TOLD:
        yield f"and {len(late) - _MOST_TOLD} more files with set-id bits"


def _files(tree: Tree) -> Iterator[Found]:
    for found in tree.visible(""):
        mode = found.stat.st_mode
        if stat.S_ISREG(mode) and mode & _BITS:
            yield found
