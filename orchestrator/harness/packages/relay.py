"""A box that runs nothing: its listeners are the way out of what shares its loopback."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace

import anyio
from anyio import to_thread

from orchestrator.audit.log import AuditLog
from orchestrator.engine.client import Engine
from orchestrator.engine.containers import find_containers
from orchestrator.engine.labels import BOX
from orchestrator.errors import BoxError, EngineError
from orchestrator.harness.box_spec import WORKDIR, Tenant, box_spec
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.sandbox.driver import BoxSpec, BoxStream, Lifecycle, Outside, WayOpener
from orchestrator.schema.egress import Caller
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount
from orchestrator.schema.way_out import Incoming, WayOut

OpenWay = Callable[[SessionId, WayOpener, AuditLog], AbstractAsyncContextManager[WayOut]]
"""Lets out of a box what policy lets out, recorded in the chain, and gives what the box is told."""

PLAIN_UID = 1000
_WORKSPACE = 16 * 1024**2


@dataclass(frozen=True, slots=True)
class Relay:
    """A box to be, and who opens its way out."""

    image: str
    """One that a box can start from."""
    open_way: OpenWay

    @asynccontextmanager
    async def leading_out(
        self,
        session: SessionId,
        audit: AuditLog,
        *,
        engine: Engine,
        lifecycle: Lifecycle,
        policy: EffectivePolicy,
    ) -> AsyncIterator[tuple[str, WayOut]]:
        """Give the box's container, whose network others may share, and what they must be told."""
        if (policy.sandbox.runtime or "").startswith("runsc"):
            raise EngineError(
                "sandbox.prepare: steps that have a network cannot run under gVisor, whose "
                "containers share no loopback",
                hint="name an image that has all it needs, or leave sandbox.prepare out",
            )
        try:
            box = await lifecycle.start(relay_spec(policy, session, self.image))
            found = await to_thread.run_sync(
                lambda: find_containers(engine, session=session, kind=BOX)
            )
            if not found:
                raise BoxError("sandbox.prepare: the box that leads out is gone")
            async with self.open_way(session, Nameless(box), audit) as way:
                yield found[0].id, way
        finally:
            with anyio.CancelScope(shield=True):
                await lifecycle.stop(session)


@dataclass(frozen=True, slots=True)
class Nameless:
    """A box whose word on who connects is left out: it knows no program of another container."""

    box: WayOpener

    def let_out(self, way: WayOut, outside: Outside) -> AbstractAsyncContextManager[None]:
        """Let out of the box, with no caller named."""
        return self.box.let_out(way, _NobodyNamed(outside))


@dataclass(frozen=True, slots=True)
class _NobodyNamed:
    outside: Outside

    async def serve(self, incoming: Incoming, stream: BoxStream) -> None:
        await self.outside.serve(replace(incoming, caller=None), stream)

    async def knows(self, name: str, caller: Caller | None) -> bool:  # noqa: ARG002 - left out
        return await self.outside.knows(name, None)


def caller_ids() -> tuple[int, int]:
    """Return the caller's uid and gid, those of a plain user where that is root."""
    return os.geteuid() or PLAIN_UID, os.getegid() or PLAIN_UID


def relay_spec(policy: EffectivePolicy, session: SessionId, image: str) -> BoxSpec:
    """Return the box: one that policy allows, on an empty workspace, with a network to share."""
    tenant = Tenant(*caller_ids(), (Mount("tmpfs", "", WORKDIR, size=_WORKSPACE),))
    return replace(box_spec(policy, tenant, session=session, image=image), joined=True)
