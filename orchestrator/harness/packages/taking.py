"""The policy's steps before a session starts: taken where they were not yet, with the session's rules."""

from __future__ import annotations

import os
from collections.abc import Callable

from anyio import to_thread

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.harness.engines import hold_engine
from orchestrator.harness.governed import Governed
from orchestrator.harness.images import layer_image
from orchestrator.harness.packages.prepared import Preparation
from orchestrator.harness.packages.relay import OpenWay, Relay, caller_ids
from orchestrator.harness.packages.steps import steps_of

Note = Callable[[str], None]


async def take_steps(
    governed: Governed, paths: Paths, *, note: Note, open_way: OpenWay | None = None
) -> None:
    """See that the image of the session-to-be has the policy's steps taken; mostly it has.

    Without ``open_way`` they have no network. Raises ConfigError for steps that cannot be taken,
    EngineError for one that failed.
    """
    if not steps_of(governed.policy):
        return
    own = sandbox_image_name(asset("sandbox-image"))
    named = governed.options.image or governed.policy.sandbox.image or own
    held = await to_thread.run_sync(hold_engine, paths, os.environ)
    try:
        relay = None
        if open_way is not None:
            made = await to_thread.run_sync(
                lambda: layer_image(held.engine, own, ids=caller_ids(), note=note)
            )
            relay = Relay(made.name, open_way)
        preparation = Preparation(
            held.engine, held.lifecycle, governed.policy, paths, note, relay=relay
        )
        await preparation.image(named)
    finally:
        held.close()
