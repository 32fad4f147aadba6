"""A warm box that a session has got, or why it has none."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine
from orchestrator.engine.lease import Lease
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.driver import RunningBox
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.posture import Posture
from orchestrator.workspace.opening import drop_workspace
from orchestrator.workspace.workspace import Workspace


@dataclass(slots=True)
class Claimed:
    """A warm box that is this session's now."""

    session: SessionId
    engine: Engine
    lifecycle: DockerLifecycle
    box: RunningBox
    workspace: Workspace
    posture: Posture
    image_digest: Digest
    lease: Lease
    paths: Paths
    used: bool = False
    """True once a room was made of it: its changes are kept then."""

    async def close(self) -> None:
        """Let go of everything; what was never used leaves nothing behind."""
        with anyio.CancelScope(shield=True):
            try:
                await self.lifecycle.stop(self.session)
                if not self.used:
                    await to_thread.run_sync(_drop, self.session, self.paths, self.engine)
            finally:
                self.lease.close()
                self.engine.close()


@dataclass(frozen=True, slots=True)
class Claim:
    """What came of asking."""

    claimed: Claimed | None
    why: str = ""
    """Why there is none."""

    @property
    def session(self) -> SessionId | None:
        """The id that the box was made with."""
        return self.claimed.session if self.claimed else None


NO_CLAIM = Claim(None)
"""Nobody asked."""


def _drop(session: SessionId, paths: Paths, engine: Engine) -> None:
    drop_workspace(session, paths=paths, engine=engine)
