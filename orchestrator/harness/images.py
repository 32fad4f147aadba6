"""Which image a session's box starts from: the named one, with the glove's layer on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from orchestrator.config.assets import asset
from orchestrator.engine.client import Engine
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.engine.images import image_digest
from orchestrator.engine.layers import BoxImage, Recipe, ensure_layer
from orchestrator.engine.user_files import BoxUser
from orchestrator.harness.box_spec import WORKDIR
from orchestrator.sandbox.container_spec import HOME
from orchestrator.sandbox.hello import SHELL
from orchestrator.schema.posture import Posture
from orchestrator.schema.terminal_text import escape_terminal

USER_NAME = "agent"


def box_image(
    engine: Engine, named: str, *, ids: tuple[int, int], note: Callable[[str], None]
) -> BoxImage:
    """Return the image the box starts from; makes its layer the first time, which takes seconds.

    ``ids`` are uid and gid of the commands.
    Raises EngineError where the engine lacks the named image or the sandbox image.
    """
    shipped = image_digest(engine, sandbox_image_name(asset("sandbox-image")))
    recipe = Recipe(named, shipped, BoxUser(*ids, USER_NAME, HOME, SHELL), WORKDIR)
    return ensure_layer(engine, recipe, lambda line: note(escape_terminal(line)))


def with_source(posture: Posture, image: BoxImage) -> Posture:
    """Return the posture with what the box's image was made of, for the record."""
    source = {"named_image": image.of, "named_image_digest": image.of_digest}
    return replace(posture, facts={**posture.facts, **source})
