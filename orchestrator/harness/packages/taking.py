"""The policy's steps before a session: taken where they were not yet, under the session's rules."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from anyio import to_thread

from orchestrator.audit.log import AuditLog
from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.config.settings import EgressSettings
from orchestrator.dispatch.output import OutputFilter
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.errors import EngineError
from orchestrator.harness.egress.net import Net
from orchestrator.harness.egress.parts import WayParts
from orchestrator.harness.egress.running import RunningCalls
from orchestrator.harness.egress.way import lets_out, open_way_out
from orchestrator.harness.engines import EngineHold, hold_engine
from orchestrator.harness.governed import Governed
from orchestrator.harness.images import layer_image
from orchestrator.harness.packages.opening import Note, package_hosts
from orchestrator.harness.packages.prepared import Preparation
from orchestrator.harness.packages.relay import Relay, caller_ids
from orchestrator.harness.packages.steps import steps_of
from orchestrator.sandbox.driver import WayOpener
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.way_out import WayOut


@dataclass(frozen=True, slots=True)
class Taking:
    """What steps are taken under."""

    governed: Governed
    output: OutputFilter
    paths: Paths
    note: Note
    settings: EgressSettings
    net: Net

    async def take(self) -> None:
        """See that the image of the session-to-be has the policy's steps taken; mostly it has.

        Raises ConfigError for steps that cannot be taken, EngineError for one that failed.
        """
        if not steps_of(self.governed.policy):
            return
        own = sandbox_image_name(asset("sandbox-image"))
        named = self.governed.options.image or self.governed.policy.sandbox.image or own
        held = await to_thread.run_sync(hold_engine, self.paths, os.environ)
        running = RunningCalls(lambda _: None)
        try:
            preparation = Preparation(
                held.engine,
                held.lifecycle,
                self.governed.policy,
                self.paths,
                self.note,
                observe=running,
            )
            if await preparation.is_done(named):
                return
            if lets_out(self.governed.policy):
                relay = await self._relay(held, named, own, running)
                preparation = preparation.through(relay)
            await preparation.image(named)
        finally:
            held.close()

    async def _relay(self, held: EngineHold, named: str, own: str, running: RunningCalls) -> Relay:
        image = await self._layer(held, own)
        asked = await self._layer(held, named)
        packages = await package_hosts(
            # What the image lacks is told with the session.
            self.governed,
            asked,
            paths=self.paths,
            note=lambda _: None,
        )

        @asynccontextmanager
        async def open_way(
            session: SessionId, box: WayOpener, audit: AuditLog
        ) -> AsyncIterator[WayOut]:
            parts = WayParts(
                self.governed,
                session,
                box,
                audit,
                self.output,
                running,
                note=self.note,
                paths=self.paths,
                settings=self.settings,
                net=self.net,
                packages=packages,
            )
            async with open_way_out(parts) as way:
                if way is None:
                    raise EngineError("sandbox.prepare: the way out did not open")
                yield way

        return Relay(image, open_way)

    async def _layer(self, held: EngineHold, named: str) -> Digest:
        made = await to_thread.run_sync(
            lambda: layer_image(held.engine, named, ids=caller_ids(), note=self.note)
        )
        return made.digest
