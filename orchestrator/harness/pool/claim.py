"""A session's way to a warm box: ask, check that it still fits, move in. Any trouble is a cold start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio
from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine
from orchestrator.engine.images import image_digest
from orchestrator.errors import BoxError, GloveboxError
from orchestrator.harness.beginnings import Beginning
from orchestrator.harness.box_spec import Tenant, require_posture
from orchestrator.harness.closing import Closing
from orchestrator.harness.engines import EngineHold, hold_engine
from orchestrator.harness.image_uses import note_use
from orchestrator.harness.images import box_image
from orchestrator.harness.options import RunOptions
from orchestrator.harness.plan import RoomPlan
from orchestrator.harness.pool.channel import RemotePool, pool_directory, socket_path
from orchestrator.harness.pool.claimed import Claim, Claimed
from orchestrator.harness.pool.offer import Offer, Source
from orchestrator.harness.pool.recipe import box_key, brought_key, pool_id, recipe_of, why_cold
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.workspace.overlay import OverlayWorkspace
from orchestrator.workspace.record import load_record
from orchestrator.workspace.recover import unfinished
from orchestrator.workspace.warmth import settle_in

PULSE_S = 2.0
"""How long a box that was taken over may take to answer its first heartbeat."""


@dataclass(frozen=True, slots=True)
class _Ground:
    """What a warm box is taken over on, settled while the pool is asked."""

    held: EngineHold
    digest: Digest
    """What the image's name stands for now."""
    brought: Digest
    """Of the variables for commands, as they are now."""


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
        self._plan = RoomPlan(options, policy, SessionId(""))
        self._pool = pool_id(recipe_of(options), paths, environ)

    @asynccontextmanager
    async def claimed(self, source: Source | None = None) -> AsyncIterator[Claim]:
        """Give a claim, and close what was claimed at the end."""
        claim = await self.claim(source)
        try:
            yield claim
        finally:
            if claim.claimed is not None:
                await claim.claimed.close(Closing.noting(self._note))

    async def claim(self, source: Source | None = None) -> Claim:
        """Return a box that fits in every respect, or why there is none; never raises for want.

        ``source`` is a pool of this process; by default the one of the project is asked.
        """
        why = why_cold(self._options)
        if not why and unfinished(self._paths):
            why = "an apply that was cut off is finished first"
        if why:
            return Claim(None, why)
        try:
            source = source or await to_thread.run_sync(self._remote)
        except GloveboxError as error:
            return Claim(None, error.message)
        if source is None:
            return Claim(None, "no pool runs")
        # Beside the question, since either takes a few milliseconds.
        preparing = asyncio.ensure_future(self._ground())
        offer: Offer | str = "it was not asked"
        try:
            offer = await self._ask(source)
        finally:
            with anyio.CancelScope(shield=True):
                ground = await preparing
            if isinstance(offer, str) and isinstance(ground, _Ground):
                ground.held.close()
        if isinstance(offer, str):
            return Claim(None, offer)
        if isinstance(ground, str):
            offer.close()
            return Claim(None, ground)
        return await self._move_in(offer, ground)

    def _remote(self) -> Source | None:
        path = socket_path(pool_directory(self._environ), self._pool)
        return RemotePool(path) if path.exists() else None

    async def _ground(self) -> _Ground | str:
        """Return what a box would be taken over on, or why there is nothing; a cold start says more."""
        naming = asyncio.ensure_future(to_thread.run_sync(brought_key, self._options))
        found = await to_thread.run_sync(self._engine)
        await asyncio.wait([naming])
        if isinstance(found, str):
            return found
        held, digest = found
        try:
            return _Ground(held, digest, naming.result())
        except BaseException:
            held.close()
            raise

    def _engine(self) -> tuple[EngineHold, Digest] | str:
        """Return the engine, and what the image's name stands for there now."""
        try:
            held = hold_engine(self._paths, self._environ)
        except GloveboxError:
            return "the engine did not answer"
        try:
            return held, image_digest(held.engine, self._plan.image)
        except BaseException as error:
            held.close()
            if isinstance(error, GloveboxError):
                return error.message
            raise

    async def _ask(self, source: Source) -> Offer | str:
        try:
            key = await to_thread.run_sync(box_key, self._pool, self._plan)
            return await source.take(key)
        except GloveboxError as error:
            return error.message

    async def _move_in(self, offer: Offer, ground: _Ground) -> Claim:
        held, lifecycle = ground.held, ground.held.lifecycle
        try:
            return Claim(await self._checked(offer, ground))
        except BaseException as error:
            if lifecycle.is_up(offer.session):
                closing = Closing.noting(self._note)
                with anyio.CancelScope(shield=True), closing.step("warm box"):
                    await lifecycle.stop(offer.session, gone=False)
            lifecycle.forget(offer.session)
            # Its workspace stays marked as nobody's, for the sweep that runs beside every start:
            # to wait here until the engine has let go of it would be slower than a cold start.
            offer.close()
            held.close()
            if isinstance(error, GloveboxError):
                return Claim(None, error.message)
            raise

    async def _checked(self, offer: Offer, ground: _Ground) -> Claimed:
        held, lifecycle = ground.held, ground.held.lifecycle
        require_posture(self._policy, offer.posture)
        if offer.brought != ground.brought:
            raise BoxError("who commits, or a variable, changed since it was made")
        record = load_record(self._paths.work(offer.session))
        if record is None:
            raise BoxError("the warm box has no workspace")
        # What it mounts was settled when it was made; of the spec, ids and limits are asked now.
        plan = replace(self._plan, session=offer.session)
        spec = plan.box(Tenant(record.uid, record.gid, ()), image=self._plan.image)
        box = lifecycle.take_over(spec, offer.handed)
        if not await lifecycle.answers(offer.session, PULSE_S):
            raise BoxError("the warm box did not answer")
        beginning = Beginning.announce(offer.session, self._paths)
        try:
            workspace = await to_thread.run_sync(
                lambda: self._settled(offer, ground, ids=(record.uid, record.gid))
            )
        except BaseException:
            # It is marked as nobody's still.
            beginning.over()
            raise
        return Claimed(
            session=offer.session,
            held=held,
            box=box,
            workspace=workspace,
            posture=offer.posture,
            image_digest=ground.digest,
            lease=offer.lease,
            beginning=beginning,
            paths=self._paths,
        )

    def _settled(self, offer: Offer, ground: _Ground, *, ids: tuple[int, int]) -> OverlayWorkspace:
        """Return the workspace, the session's own from here on; raises where anything is another."""
        engine = ground.held.engine
        self._check_image(engine, offer, ground.digest, ids=ids)
        return settle_in(offer.session, paths=self._paths, engine=engine)

    def _check_image(
        self, engine: Engine, offer: Offer, digest: Digest, *, ids: tuple[int, int]
    ) -> None:
        """Raise BoxError where the box is of another image than the name stands for."""
        image = self._plan.image
        made = offer.handed.facts.get("image_digest", "")
        same = offer.posture.facts.get("named_image_digest") == digest
        if same and (self._options.image or self._policy.sandbox.image):
            # Of another image, our own part in the box may be an older one too.
            now = box_image(engine, image, policy=self._policy, ids=ids, note=self._note)
            same = now.digest == made
        if not same:
            raise BoxError(f"image {image} is another by now")
        note_use(self._paths, Digest(made), digest)
