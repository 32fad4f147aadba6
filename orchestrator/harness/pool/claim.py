"""A session's way to a warm box: ask, check that it still fits, move in. Any trouble is a cold start."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import anyio
from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine, connect
from orchestrator.errors import BoxError, GloveboxError
from orchestrator.harness.box_spec import Tenant, require_posture
from orchestrator.harness.image_uses import note_use
from orchestrator.harness.images import box_image
from orchestrator.harness.options import RunOptions
from orchestrator.harness.plan import RoomPlan
from orchestrator.harness.pool.channel import RemotePool, pool_directory, socket_path
from orchestrator.harness.pool.claimed import Claim, Claimed
from orchestrator.harness.pool.offer import Offer, Source
from orchestrator.harness.pool.recipe import box_key, pool_id, recipe_of, why_cold
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.schema.ids import SessionId
from orchestrator.workspace.record import load_record
from orchestrator.workspace.recover import unfinished
from orchestrator.workspace.warmth import settle_in

PULSE_S = 2.0
"""How long a box that was taken over may take to answer its first heartbeat."""


class Claimant:
    """One session that would like a warm box."""

    def __init__(
        self,
        options: RunOptions,
        policy: EffectivePolicy,
        *,
        paths: Paths,
        environ: Mapping[str, str],
        note: Callable[[str], None],
    ) -> None:
        """``policy`` is the session's own, read by itself and not by the pool."""
        self._note = note
        self._options = options
        self._policy = policy
        self._paths = paths
        self._environ = environ
        self._pool = pool_id(recipe_of(options), paths, environ)

    @asynccontextmanager
    async def claimed(self, source: Source | None = None) -> AsyncIterator[Claim]:
        """Give a claim, and close what was claimed at the end."""
        claim = await self.claim(source)
        try:
            yield claim
        finally:
            if claim.claimed is not None:
                await claim.claimed.close()

    async def claim(self, source: Source | None = None) -> Claim:
        """Return a box that fits in every respect, or why there is none; never raises for want.

        ``source`` is a pool of this process; by default the one of the project is asked.
        """
        why = why_cold(self._options)
        if not why and unfinished(self._paths):
            why = "an apply that was cut off is finished first"
        if why:
            return Claim(None, why)
        offer: Offer | str
        try:
            if source is None:
                directory = await to_thread.run_sync(pool_directory, self._environ)
                source = RemotePool(socket_path(directory, self._pool))
            key = await to_thread.run_sync(box_key, self._pool, self._plan(SessionId("")))
            offer = await source.take(key)
        except GloveboxError as error:
            return Claim(None, error.message)
        if isinstance(offer, str):
            return Claim(None, offer)
        return await self._move_in(offer)

    def _plan(self, session: SessionId) -> RoomPlan:
        return RoomPlan(self._options, self._policy, session)

    async def _move_in(self, offer: Offer) -> Claim:
        try:
            engine = await to_thread.run_sync(lambda: connect(environ=self._environ))
        except BaseException:
            offer.close()
            raise
        lifecycle = DockerLifecycle(engine)
        try:
            return Claim(await self._checked(offer, engine, lifecycle))
        except BaseException as error:
            if lifecycle.is_up(offer.session):
                with anyio.CancelScope(shield=True):
                    await lifecycle.stop(offer.session, gone=False)
            # Its workspace stays marked as nobody's, for the sweep that runs beside every start:
            # to wait here until the engine has let go of it would be slower than a cold start.
            offer.close()
            engine.close()
            if isinstance(error, GloveboxError):
                return Claim(None, error.message)
            raise

    async def _checked(self, offer: Offer, engine: Engine, lifecycle: DockerLifecycle) -> Claimed:
        plan = self._plan(offer.session)
        require_posture(self._policy, offer.posture)
        record = load_record(self._paths.work(offer.session))
        if record is None:
            raise BoxError("the warm box has no workspace")
        ids = (record.uid, record.gid)
        image = await to_thread.run_sync(
            lambda: box_image(
                engine, plan.image, sandbox=self._policy.sandbox, ids=ids, note=self._note
            )
        )
        if offer.handed.facts.get("image_digest") != image.digest:
            raise BoxError(f"image {plan.image} is another by now")
        # What it mounts was settled when it was made; of the spec, ids and limits are asked now.
        tenant = Tenant(*ids, ())
        box = lifecycle.take_over(plan.box(tenant), offer.handed)
        if not await lifecycle.answers(offer.session, PULSE_S):
            raise BoxError("the warm box did not answer")
        note_use(self._paths, image.digest, image.of_digest)
        # Last: from here on the workspace is the session's own.
        workspace = await to_thread.run_sync(
            lambda: settle_in(offer.session, paths=self._paths, engine=engine)
        )
        return Claimed(
            session=offer.session,
            engine=engine,
            lifecycle=lifecycle,
            box=box,
            workspace=workspace,
            posture=offer.posture,
            image_digest=image.of_digest,
            lease=offer.lease,
            paths=self._paths,
        )
