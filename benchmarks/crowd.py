"""Many whole sessions side by side in one process, opened as any front door opens one."""

from __future__ import annotations

import gc
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path

from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.engine.client import connect
from orchestrator.engine.home_volumes import list_homes
from orchestrator.engine.volumes import remove_volume
from orchestrator.harness.options import RunOptions
from orchestrator.harness.session import Session, open_session
from orchestrator.schema.event import (
    Observer,
)
from orchestrator.schema.event_base import Event
from orchestrator.schema.ids import SessionId
from orchestrator.schema.request import ExecRequest
from orchestrator.workspace.opening import drop_workspace

ORDER = ExecRequest("true", "/workspace", 60.0)
UID = 1000
SCRIPT = "version: 1\nturns:\n  - text: nothing to do\n"


class QuietFront:
    """A front door with nobody behind it."""

    def observer(self, session: str) -> Observer:  # noqa: ARG002 - the Protocol's form
        """Return an observer that keeps nothing."""

        def drop(_event: Event) -> None:
            """Take an event that nobody waits for."""

        return drop

    def person(self) -> None:
        """Return nobody."""

    def note(self, text: str) -> None:
        """Take a note that nobody reads."""


class Crowd:
    """Sessions of one small project, up until the block around them ends."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        """Make the project."""
        self._stack = stack
        self._opened: list[SessionId] = []
        self._paths = Paths(folder / "state", folder / "config")
        self._project = folder / "crowd"
        self._project.mkdir()
        (self._project / "a.txt").write_text("a\n")
        if os.geteuid() == 0:
            for path in (self._project, self._project / "a.txt"):
                os.chown(path, UID, UID)
        self._script = folder / "script.yaml"
        self._script.write_text(SCRIPT)

    async def add(self) -> Session:
        """Open one more and run a command in it."""
        options = RunOptions("stand by", self._project, f"scripted:{self._script}")
        session = await self._stack.enter_async_context(
            open_session(options, Settings(), self._paths, front=QuietFront())
        )
        await session.room.box.execute(ORDER)
        self._opened.append(session.id)
        return session

    def clear(self) -> None:
        """Remove all that the engine keeps of the sessions, once they have ended."""
        with closing(connect()) as engine:
            for session in self._opened:
                drop_workspace(session, paths=self._paths, engine=engine)
            for home in list_homes(engine):
                if home.project == str(self._project):
                    remove_volume(engine, home.name)


@asynccontextmanager
async def crowd(folder: Path) -> AsyncIterator[Crowd]:
    """Give a crowd that begins empty, below a directory of its own."""
    async with AsyncExitStack() as stack:
        made = Crowd(folder, stack)
        # Pushed first, so called last.
        stack.callback(made.clear)
        yield made


def resident() -> int:
    """Return this process's resident bytes, without what waits to be collected."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
