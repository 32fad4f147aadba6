"""Makes warm boxes on the real engine, exactly as a session's own would be made."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine, connect
from orchestrator.engine.lease import Lease
from orchestrator.harness.governing import policy_of
from orchestrator.harness.luggage import check_luggage, with_read_roots
from orchestrator.harness.options import RunOptions
from orchestrator.harness.plan import RoomPlan
from orchestrator.harness.pool.offer import Offer, UnfitError
from orchestrator.harness.pool.recipe import box_key, brought_key, pool_id
from orchestrator.harness.project import check_project
from orchestrator.harness.raising import Raising
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.posture import Posture
from orchestrator.workspace.opening import drop_workspace
from orchestrator.workspace.record import LEASE


@dataclass(slots=True)
class ReadyBox:
    """A box with its workspace, and nobody in it."""

    session: SessionId
    key: Digest
    brought: Digest
    lease: Lease
    maker: BoxMaker
    posture: Posture | None = None

    @property
    def alive(self) -> bool:
        """False once it has ended."""
        return self.maker.lifecycle.is_up(self.session)

    async def hand_over(self) -> Offer | None:
        """Let go of it; None, and it is gone, where that cannot be."""
        handed = await self.maker.lifecycle.hand_over(self.session)
        if handed is None or self.posture is None:
            await self.drop()
            return None
        return Offer(self.session, handed, self.posture, self.lease, self.brought)

    async def drop(self) -> None:
        """End it and remove what was prepared for it."""
        try:
            await self.maker.lifecycle.stop(self.session)
            await to_thread.run_sync(self.maker.forget, self.session)
        finally:
            self.lease.close()


class BoxMaker:
    """Makes boxes for one recipe; policy is read anew for each."""

    def __init__(self, recipe: RunOptions, paths: Paths, environ: Mapping[str, str]) -> None:
        """Connect to nothing yet."""
        check_project(
            recipe.directory, home=Path.home().resolve(), state=paths.state.resolve(), named="pool"
        )
        self._recipe = recipe
        self._paths = paths
        self._environ = environ
        self._pool = pool_id(recipe, paths, environ)
        self._engine: Engine | None = None
        self._lifecycle: DockerLifecycle | None = None

    @property
    def lifecycle(self) -> DockerLifecycle:
        """The driver of all boxes that were made."""
        if self._lifecycle is None:
            raise RuntimeError("no box was made yet")
        return self._lifecycle

    async def make(self) -> ReadyBox:
        """Return a box that is up and proved; raises GloveboxError, and leaves nothing then."""
        engine = await self._connected()
        plan = await to_thread.run_sync(self._plan)
        lease = await to_thread.run_sync(self._lease, plan.session)
        key = await to_thread.run_sync(lambda: box_key(self._pool, plan))
        brought = await to_thread.run_sync(brought_key, self._recipe)
        ready = ReadyBox(plan.session, key, brought, lease, self)
        try:
            raising = Raising(plan, self._paths, engine, self.lifecycle, _unheard)
            _, prepared = await raising.prepare(warm=True)
            _check_mode(prepared.mode)
            _, ready.posture = await raising.start(prepared, owner=lease.label)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await ready.drop()
            raise
        return ready

    def forget(self, session: SessionId) -> None:
        """Remove a workspace that nobody took."""
        if self._engine is not None:
            drop_workspace(session, paths=self._paths, engine=self._engine)

    def close(self) -> None:
        """Give the engine's connections back."""
        if self._engine is not None:
            self._engine.close()

    async def _connected(self) -> Engine:
        if self._engine is None:
            self._engine = await to_thread.run_sync(lambda: connect(environ=self._environ))
            self._lifecycle = DockerLifecycle(self._engine)
        return self._engine

    def _plan(self) -> RoomPlan:
        policy = policy_of(self._recipe, self._paths)
        check_luggage(self._recipe, policy, state=self._paths.state.resolve())
        policy = with_read_roots(policy, self._recipe)
        return RoomPlan(self._recipe, policy, SessionId(secrets.token_hex(6)))

    def _lease(self, session: SessionId) -> Lease:
        folder = self._paths.work(session)
        folder.mkdir(mode=0o700, parents=True)
        return Lease.take(folder / LEASE)


def _check_mode(mode: str) -> None:
    if mode != "overlay":
        raise UnfitError(
            f"pool: a workspace of mode {mode} cannot wait, as it holds a copy, or works on the "
            "files themselves",
            hint="only overlay workspaces are kept warm",
        )


def _unheard(line: str) -> None:
    """Take a note that nobody is there to read."""
