"""Which image a session's box starts from: the named one, with the glove's layer on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from orchestrator.config.assets import asset
from orchestrator.engine.base_image import present_image
from orchestrator.engine.builds import CHAIN_LABEL
from orchestrator.engine.client import Engine
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.engine.images import image_digest
from orchestrator.engine.layers import BoxImage, Recipe, ensure_layer
from orchestrator.engine.user_files import BoxUser
from orchestrator.errors import EngineError
from orchestrator.harness.box_spec import WORKDIR
from orchestrator.harness.packages.steps import prepared_name, steps_of
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.sandbox.container_spec import HOME
from orchestrator.sandbox.hello import SHELL
from orchestrator.schema.posture import Posture
from orchestrator.schema.terminal_text import escape_terminal

USER_NAME = "agent"


def box_image(
    engine: Engine,
    named: str,
    *,
    policy: EffectivePolicy,
    ids: tuple[int, int],
    note: Callable[[str], None],
) -> BoxImage:
    """Return the image the box starts from; makes its layer the first time, which takes seconds.

    ``ids`` are uid and gid of the commands.
    Raises EngineError where the engine lacks the named image or the sandbox image, and where the
    policy's steps have not been taken on it yet.
    """
    ready = prepared_image(engine, named, policy=policy)
    made = layer_image(engine, ready, ids=ids, note=note)
    if ready == named:
        return made
    return replace(
        made,
        of=named,
        of_digest=image_digest(engine, named),
        prepared_in=_chain(engine, ready),
    )


def _chain(engine: Engine, prepared: str) -> str:
    labels = ((present_image(engine, prepared) or {}).get("Config") or {}).get("Labels") or {}
    return str(labels.get(CHAIN_LABEL, ""))


def layer_image(
    engine: Engine, named: str, *, ids: tuple[int, int], note: Callable[[str], None]
) -> BoxImage:
    """Return an image with the glove's layer, whatever steps a policy has."""
    shipped = image_digest(engine, sandbox_image_name(asset("sandbox-image")))
    recipe = Recipe(named, shipped, BoxUser(*ids, USER_NAME, HOME, SHELL), WORKDIR)
    return ensure_layer(engine, recipe, lambda line: note(escape_terminal(line)))


def prepared_image(engine: Engine, named: str, *, policy: EffectivePolicy) -> str:
    """Return the image on which the policy's steps were taken; the named one where it has none.

    EngineError where they were not: ``packages.prepared`` takes them, before a session.
    """
    if not steps_of(policy):
        return named
    name = prepared_name(policy, image_digest(engine, named))
    if present_image(engine, name) is None:
        raise EngineError(
            f"image {named}: the steps of sandbox.prepare have not been taken on it yet",
            hint="the next `glovebox run` under this policy takes them",
        )
    return name


def with_source(posture: Posture, image: BoxImage) -> Posture:
    """Return the posture with what the box's image was made of, for the record."""
    source = {"named_image": image.of, "named_image_digest": image.of_digest}
    if image.prepared_in:
        source["prepared_in"] = image.prepared_in
    return replace(posture, facts={**posture.facts, **source})
