"""Builds of other people's Dockerfiles: without a network, within limits, from images that are here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO

from orchestrator.engine.base_image import present_image
from orchestrator.engine.client import Engine
from orchestrator.engine.dockerfile import BuildPlan, check_triggers
from orchestrator.engine.failure import translated
from orchestrator.engine.images import follow_build
from orchestrator.engine.labels import KIND
from orchestrator.errors import EngineError
from orchestrator.schema.ids import Digest

BUILT_KIND = "built"
DOCKERFILE = ".glovebox-dockerfile"
"""Where a context has the Dockerfile whose text was shown, whatever its name was."""
SOURCE_LABEL = "glovebox.source"
"""What an image was built from, for people."""
BUILT_FROM_LABEL = "glovebox.built-from"
"""Ids of the images it stands on, by comma."""
CHAIN_LABEL = "glovebox.prepared-in"
"""Audit chain in which the steps that made an image are recorded."""


@dataclass(frozen=True, slots=True)
class BuildSpec:
    """One build."""

    name: str
    """Repository and tag; the tag stands for all inputs."""
    source: str
    plan: BuildPlan
    args: Mapping[str, str] = field(default_factory=dict)
    target: str | None = None
    dockerfile: str = DOCKERFILE
    """Path in the context."""
    memory: int = 4 * 1024**3
    """Bytes, swap included."""


def require_images(engine: Engine, plan: BuildPlan) -> tuple[Digest, ...]:
    """Return the ids of the images a build stands on; EngineError names one that is missing."""
    found = []
    for image in plan.images:
        present = present_image(engine, image)
        if present is None:
            raise EngineError(
                f"image {image}: the engine does not have it, and a build here fetches nothing",
                hint=f"run `docker pull {image}`",
            )
        check_triggers((present.get("Config") or {}).get("OnBuild") or (), image=image)
        found.append(Digest(present["Id"]))
    return tuple(found)


def build(
    engine: Engine, spec: BuildSpec, context: IO[bytes], *, progress: Callable[[str], None]
) -> Digest:
    """Build and return the image's id; EngineError with the build's last words if it fails."""
    stands_on = require_images(engine, spec.plan)
    progress(f"building {spec.source} (no network)")
    with translated(f"build {spec.source}"):
        events = engine.api.build(
            fileobj=context,
            custom_context=True,
            dockerfile=spec.dockerfile,
            tag=spec.name,
            buildargs=dict(spec.args),
            target=spec.target or "",
            network_mode="none",
            container_limits={"memory": spec.memory, "memswap": spec.memory},
            labels={
                KIND: BUILT_KIND,
                SOURCE_LABEL: spec.source,
                BUILT_FROM_LABEL: ",".join(stands_on),
            },
            rm=True,
            forcerm=True,
            decode=True,
        )
        try:
            follow_build(events, name=spec.source, progress=progress)
        except EngineError as err:
            err.hint = "a build here has no network; mend what it names and start again"
            raise
    found = present_image(engine, spec.name)
    if found is None:
        raise EngineError(f"build {spec.source}: done, but the engine does not have {spec.name}")
    return Digest(found["Id"])
