"""A session's way to a warm box: ask, check that it still fits, move in. Any trouble is a cold start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

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
from orchestrator.harness.pool.recipe import box_key, pool_id, recipe_of, why_cold
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.schema.ids import Digest, SessionId
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
        connecting = asyncio.ensure_future(to_thread.run_sync(self._connect))
        offer: Offer | str = "it was not asked"
        try:
            image = await to_thread.run_sync(lambda: self._plan(SessionId("")).image)
            offer = await self._ask(source, image)
        finally:
            with anyio.CancelScope(shield=True):
                held = await connecting
            if isinstance(offer, str) and held is not None:
                held.close()
        if isinstance(offer, str):
            return Claim(None, offer)
        if held is None:
            offer.close()
            return Claim(None, "the engine did not answer")
        return await self._move_in(offer, held, image)

    def _remote(self) -> Source | None:
        path = socket_path(pool_directory(self._environ), self._pool)
        return RemotePool(path) if path.exists() else None

    def _connect(self) -> EngineHold | None:
        try:
            return hold_engine(self._paths, self._environ)
        except GloveboxError:
            # The cold start meets the same, and says so.
            return None

    async def _ask(self, source: Source, image: str) -> Offer | str:
        plan = self._plan(SessionId(""))
        try:
            key = await to_thread.run_sync(box_key, self._pool, plan, image)
            return await source.take(key)
        except GloveboxError as error:
            return error.message

    def _plan(self, session: SessionId) -> RoomPlan:
        return RoomPlan(self._options, self._policy, session)

    async def _move_in(self, offer: Offer, held: EngineHold, image: str) -> Claim:
        lifecycle = held.lifecycle
        try:
            return Claim(await self._checked(offer, image, held))
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

    async def _checked(self, offer: Offer, image: str, held: EngineHold) -> Claimed:
        engine, lifecycle = held.engine, held.lifecycle
        require_posture(self._policy, offer.posture)
        record = load_record(self._paths.work(offer.session))
        if record is None:
            raise BoxError("the warm box has no workspace")
        # What it mounts was settled when it was made; of the spec, ids and limits are asked now.
        spec = self._plan(offer.session).box(Tenant(record.uid, record.gid, ()))
        box = lifecycle.take_over(spec, offer.handed)
        digest = await to_thread.run_sync(
            lambda: self._image_digest(engine, image, offer, ids=(record.uid, record.gid))
        )
        if not await lifecycle.answers(offer.session, PULSE_S):
            raise BoxError("the warm box did not answer")
        # Last: from here on the workspace is the session's own.
        beginning = Beginning.announce(offer.session, self._paths)
        try:
            workspace = await to_thread.run_sync(
                lambda: settle_in(offer.session, paths=self._paths, engine=engine)
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
            image_digest=digest,
            lease=offer.lease,
            beginning=beginning,
            paths=self._paths,
        )

    def _image_digest(
        self, engine: Engine, image: str, offer: Offer, *, ids: tuple[int, int]
    ) -> Digest:
        """Return the digest the image's name stands for; BoxError where the box is of another."""
        made = offer.handed.facts.get("image_digest", "")
        digest = image_digest(engine, image)
        same = offer.posture.facts.get("named_image_digest") == digest
        if same and (self._options.image or self._policy.sandbox.image):
            # Of another image, our own part in the box may be an older one too.
            sandbox = self._policy.sandbox
            now = box_image(engine, image, sandbox=sandbox, ids=ids, note=self._note)
            same = now.digest == made
        if not same:
            raise BoxError(f"image {image} is another by now")
        note_use(self._paths, Digest(made), digest)
        return digest
