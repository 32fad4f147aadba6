"""The package hosts of one session: asked of its image's clients, or of the shipped image's.

An image that a project describes was said yes to as an image. It may not name hosts besides: what
its clients name is told, and counts only where the shipped image's clients name it too.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from anyio import to_thread

from orchestrator.config.assets import asset
from orchestrator.config.paths import Paths
from orchestrator.egress.packages.hosts import PackageHosts
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.harness.engines import EngineHold, hold_engine
from orchestrator.harness.governed import Governed
from orchestrator.harness.images import layer_image
from orchestrator.harness.packages.asking import FoundPackages, find_packages
from orchestrator.harness.packages.relay import caller_ids
from orchestrator.schema.ids import Digest
from orchestrator.schema.packages import ECOSYSTEMS
from orchestrator.schema.terminal_text import escape_terminal

Note = Callable[[str], None]


async def package_hosts(
    governed: Governed, image: Digest, *, paths: Paths, note: Note
) -> PackageHosts:
    """Return what the clients of an image name, which a box can start from.

    All clients are asked at once: rules that are reloaded may name further ones.
    """
    wanted = governed.policy.network.packages
    if not wanted:
        return PackageHosts()
    held = await to_thread.run_sync(hold_engine, paths, os.environ)
    try:
        runtime = governed.policy.sandbox.runtime
        found = await _found(held, image, paths, runtime)
        if governed.project.facts.get("used") == "yes":
            found = await _without_the_projects(held, found, governed, paths=paths, note=note)
    finally:
        held.close()
    for name, problem in (found.problems or {}).items():
        if name in wanted:
            note(escape_terminal(f"network.packages: {name}: {problem}; nothing is let out for it"))
    return PackageHosts(found.places)


async def _found(
    held: EngineHold, image: Digest, paths: Paths, runtime: str | None
) -> FoundPackages:
    return await find_packages(
        ECOSYSTEMS,
        held.lifecycle,
        image=(image, image),
        ids=caller_ids(),
        paths=paths,
        runtime=runtime,
    )


async def _without_the_projects(
    held: EngineHold, found: FoundPackages, governed: Governed, *, paths: Paths, note: Note
) -> FoundPackages:
    own = sandbox_image_name(asset("sandbox-image"))
    layer = await to_thread.run_sync(
        lambda: layer_image(held.engine, own, ids=caller_ids(), note=note)
    )
    shipped = await _found(held, layer.digest, paths, governed.policy.sandbox.runtime)
    for place in found.places:
        if place not in shipped.places:
            note(
                escape_terminal(
                    f"network.packages: {place.ecosystem}: the project's image names "
                    f"{place.host}, which no project may add; a rule of your own can let it out"
                )
            )
    return shipped
