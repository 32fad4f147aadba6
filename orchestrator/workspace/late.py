"""Hidden files and credentials that appeared on the host while a box saw its directory live.

A running mount cannot be given a new mask, so what is left is to tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orchestrator.workspace.masking import find_kept
from orchestrator.workspace.record import WorkspaceRecord
from orchestrator.workspace.tree import Tree


def late_notes(
    tree: Tree, record: WorkspaceRecord, *, covered: Callable[[str], bool]
) -> Iterator[str]:
    """Yield one line for each such path that was made, or replaced, since the session began.

    ``covered`` tells of those that the box cannot see whatever became of them.
    """
    kept = find_kept(tree, record.hidden, pass_deep=True)
    for path in sorted({*kept.hidden, *kept.masked}):
        info = tree.lstat(path)
        if info is not None and info.st_ctime_ns > record.started_ns and not covered(path):
            yield (
                f"{path}: policy keeps it from the box, but it appeared on the host during the "
                "session, so the box may have read it; consider its secrets as known"
            )
