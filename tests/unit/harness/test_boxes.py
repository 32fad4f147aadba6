"""Boxes from outside their run."""

import secrets

import anyio
import pytest

from orchestrator.config.assets import asset
from orchestrator.engine.image_context import sandbox_image_name
from orchestrator.engine.images import image_digest
from orchestrator.errors import UsageError
from orchestrator.harness.boxes import end_box, running_boxes, sweep_boxes
from orchestrator.harness.image_uses import last_uses, note_use
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.driver import BoxSpec
from orchestrator.schema.ids import Digest, SessionId

pytestmark = pytest.mark.docker


def with_box(engine, do):
    """Start a box, do something, end it; return what came of it."""
    session = SessionId(secrets.token_hex(6))
    spec = BoxSpec(session, sandbox_image_name(asset("sandbox-image")), 1000, 1000, "/workspace")

    async def run():
        lifecycle = DockerLifecycle(engine)
        await lifecycle.start(spec)
        try:
            return await do(session)
        finally:
            await lifecycle.stop(session)

    return session, anyio.run(run)


def sessions(paths):
    return {box.session for box in running_boxes(paths).sessions}


def test_running_box_is_listed_until_it_ends(engine, paths):
    """By its session."""

    async def look(session):  # noqa: ARG001 - what is done beside a box
        return await anyio.to_thread.run_sync(sessions, paths)

    session, found = with_box(engine, look)

    assert session in found
    assert session not in sessions(paths)


def test_box_is_ended_by_a_prefix_of_its_session(engine, paths):
    """Its run sees the box go."""

    async def end(session):
        ended = await end_box(session[:10])
        return ended, await anyio.to_thread.run_sync(sessions, paths)

    session, (ended, left) = with_box(engine, end)

    assert ended == session
    assert session not in left


@pytest.mark.parametrize("prefix", ["", "zzz"])
@pytest.mark.usefixtures("engine")
def test_prefix_that_names_no_single_box_ends_none(prefix):
    """An empty prefix fits all, and means none."""
    with pytest.raises(UsageError):
        anyio.run(end_box, prefix)


def test_sweep_leaves_the_boxes_of_living_runs(engine, paths):
    """Only what a dead owner left is removed."""

    async def sweep(session):  # noqa: ARG001 - what is done beside a box
        swept = await sweep_boxes(paths)
        return swept, await anyio.to_thread.run_sync(sessions, paths)

    session, (swept, left) = with_box(engine, sweep)

    assert session not in swept.boxes
    assert session in left


def test_sweep_forgets_when_images_were_used_that_are_gone(engine, paths):
    """What the engine has keeps its date."""
    there = image_digest(engine, sandbox_image_name(asset("sandbox-image")))
    note_use(paths, there, Digest(f"sha256:{'0' * 64}"))

    anyio.run(sweep_boxes, paths)

    assert set(last_uses(paths)) == {there}
