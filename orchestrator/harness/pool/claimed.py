"""A warm box that a session has got, or why it has none."""

from __future__ import annotations

from dataclasses import dataclass

import anyio
from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine
from orchestrator.engine.lease import Lease
from orchestrator.harness.beginnings import Beginning
from orchestrator.harness.closing import Closing
from orchestrator.harness.engines import EngineHold
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.driver import RunningBox
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.posture import Posture
from orchestrator.workspace.warmth import drop_unused
from orchestrator.workspace.workspace import Workspace


@dataclass(slots=True)
class Claimed:
    """A warm box that is this session's now."""

    session: SessionId
    held: EngineHold
    box: RunningBox
    workspace: Workspace
    posture: Posture
    image_digest: Digest
    lease: Lease
    beginning: Beginning
    paths: Paths
    used: bool = False
    """True once a room was made of it: its changes are kept then."""

    @property
    def engine(self) -> Engine:
        """Where it runs."""
        return self.held.engine

    @property
    def lifecycle(self) -> DockerLifecycle:
        """Who ends it."""
        return self.held.lifecycle

    async def close(self, closing: Closing) -> None:
        """Let go of everything; what was never used leaves nothing behind.

        A box that was used was ended by the room around it, and told of if that failed.
        """
        with anyio.CancelScope(shield=True):
            try:
                if not self.used:
                    await self._drop(closing)
            finally:
                self.beginning.release()
                self.lease.close()
                self.held.close()

    async def _drop(self, closing: Closing) -> None:
        with closing.step(f"warm box glovebox-{self.session}"):
            await self.lifecycle.stop(self.session)
            await to_thread.run_sync(
                lambda: drop_unused(self.session, paths=self.paths, engine=self.engine)
            )


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
