"""A session's changes beside its box: opened to be looked at, and counted for the last row."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from anyio import to_thread
from anyio.abc import TaskGroup

from orchestrator.config.paths import Paths
from orchestrator.engine.client import connect
from orchestrator.errors import GloveboxError
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.handover import read_changes
from orchestrator.workspace.node import ChangeSet
from orchestrator.workspace.opening import load_workspace
from orchestrator.workspace.workspace import Workspace


@asynccontextmanager
async def open_workspace(paths: Paths, session: SessionId) -> AsyncIterator[Workspace]:
    """Open a session's workspace; WorkspaceError where it has none, EngineError without engine."""
    engine = await to_thread.run_sync(connect)
    try:
        yield load_workspace(session, paths=paths, engine=engine)
    finally:
        engine.close()


@dataclass(slots=True)
class ChangeCount:
    """How many files ``/diff`` would list, as of the last time that was looked at."""

    paths: Paths
    session: SessionId
    words: str = ""
    """``+1 ~0 -2``; empty where nothing is changed, or it could not be looked at."""
    _then: list[Callable[[], None]] = field(default_factory=list)
    _at_work: bool = False

    def begin(self, group: TaskGroup, then: Callable[[], None]) -> None:
        """Look again, beside everything else; ``then`` is called with the new count there."""
        self._then.append(then)
        if not self._at_work:
            self._at_work = True
            group.start_soon(self._look)

    async def _look(self) -> None:
        try:
            while self._then:
                waiting, self._then = self._then, []
                self.words = await self._count()
                for then in waiting:
                    then()
        finally:
            self._at_work = False

    async def _count(self) -> str:
        try:
            async with open_workspace(self.paths, self.session) as workspace:
                return count_words(await read_changes(workspace))
        except GloveboxError:
            # A number that may be false is not shown; `/diff` tells what is the matter.
            return ""


def count_words(changes: ChangeSet) -> str:
    """Return how many files were added, modified and deleted; empty for none.

    What git ignores is left out, and a renamed file counts once, as in the list of ``/diff``.
    """
    kinds = Counter(c.kind for c in changes.changes if not c.renamed_to and not c.ignored)
    if not kinds:
        return ""
    return f"+{kinds['added']} ~{kinds['modified']} -{kinds['deleted']}"
