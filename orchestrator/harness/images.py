"""Which image a session's box starts from: the named one, with the glove's layer on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from orchestrator.config.assets import asset
from orchestrator.engine.base_image import present_image
from orchestrator.engine.builds import BuildSpec, build
from orchestrator.engine.client import Engine
from orchestrator.engine.dockerfile import BuildPlan
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.engine.images import image_digest
from orchestrator.engine.layers import BoxImage, Recipe, ensure_layer
from orchestrator.engine.user_files import BoxUser
from orchestrator.errors import ConfigError
from orchestrator.harness.box_spec import WORKDIR
from orchestrator.policy.effective import SandboxSettings
from orchestrator.sandbox.container_spec import HOME
from orchestrator.sandbox.hello import SHELL
from orchestrator.schema.ids import Digest, digest_of
from orchestrator.schema.posture import Posture
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.build_context import pack_text

USER_NAME = "agent"
PREPARED = "glovebox/prepared"


def box_image(
    engine: Engine,
    named: str,
    *,
    sandbox: SandboxSettings,
    ids: tuple[int, int],
    note: Callable[[str], None],
) -> BoxImage:
    """Return the image the box starts from; makes its layer the first time, which takes seconds.

    ``ids`` are uid and gid of the commands.
    Raises EngineError where the engine lacks the named image or the sandbox image.
    """
    shipped = image_digest(engine, sandbox_image_name(asset("sandbox-image")))
    ready = prepared_image(engine, named, sandbox=sandbox, note=note)
    recipe = Recipe(ready, shipped, BoxUser(*ids, USER_NAME, HOME, SHELL), WORKDIR)
    made = ensure_layer(engine, recipe, lambda line: note(escape_terminal(line)))
    if ready == named:
        return made
    return replace(made, of=named, of_digest=image_digest(engine, named))


def prepared_image(
    engine: Engine, named: str, *, sandbox: SandboxSettings, note: Callable[[str], None]
) -> str:
    """Return the image on which the policy's steps were taken; the named one where it has none.

    Built once for each image and list of steps, as root, without a network.
    """
    if sandbox.prepare_packages:
        raise ConfigError(
            f"sandbox.prepare.packages: {', '.join(sandbox.prepare_packages)}: packages need a "
            "network, and a build has no network yet",
            hint="name an image that has them, or leave the key out",
        )
    if not sandbox.prepare_commands:
        return named
    digest = image_digest(engine, named)
    text = prepare_dockerfile(digest, sandbox.prepare_commands)
    name = f"{PREPARED}:{digest_of(text.encode()).partition(':')[2][:12]}"
    if present_image(engine, name) is None:
        spec = BuildSpec(
            name=name,
            source=f"sandbox.prepare on {named}",
            plan=BuildPlan((digest,), ()),
            memory=sandbox.memory,
        )
        with pack_text(text) as context:
            build(
                engine,
                spec,
                context,
                progress=lambda line: note(escape_terminal(f"image: {line}")),
            )
    return name


def prepare_dockerfile(digest: Digest, commands: Sequence[str]) -> str:
    """Return the steps as a Dockerfile; each command is an argument, never Dockerfile syntax."""
    lines = [f"FROM {digest}", "USER 0:0"]
    lines += [f"RUN {json.dumps(['/bin/sh', '-c', command])}" for command in commands]
    return "\n".join(lines) + "\n"


def with_source(posture: Posture, image: BoxImage) -> Posture:
    """Return the posture with what the box's image was made of, for the record."""
    source = {"named_image": image.of, "named_image_digest": image.of_digest}
    return replace(posture, facts={**posture.facts, **source})
