"""Warm boxes are made like a session's own, and a failure on the way leaves nothing."""

import os

import anyio
import pytest

from orchestrator.engine.containers import find_containers
from orchestrator.engine.labels import is_locked
from orchestrator.errors import EngineError, PostureError, UsageError
from orchestrator.harness.pool.maker import BoxMaker
from orchestrator.harness.pool.recipe import recipe_of
from orchestrator.workspace.record import LEASE, load_record


def make(options, paths, then):
    """Make one box, do something with it, and drop it."""

    async def whole():
        maker = BoxMaker(recipe_of(options), paths, os.environ)
        try:
            box = await maker.make()
            found = await then(box)
            await box.drop()
            return found
        finally:
            maker.close()

    return anyio.run(whole)


def left(paths):
    work = paths.state / "work"
    return sorted(work.iterdir()) if work.exists() else []


@pytest.mark.docker
def test_box_waits_on_a_workspace_that_is_nobodys(options, paths, engine):
    """Its lease is held, its record says that it is warm, and nothing of it stays."""

    async def look(box):
        folder = paths.work(box.session)
        record = load_record(folder)
        [container] = find_containers(engine, session=box.session)
        return box.alive, record.warm, is_locked(folder / LEASE), container.owner

    alive, warm, held, owner = make(options(), paths, look)

    assert (alive, warm, held) == (True, True, True)
    assert owner.startswith("lease:")
    assert left(paths) == []


@pytest.mark.docker
def test_box_that_ended_is_not_alive(options, paths, engine):
    """Killed behind the pool's back."""

    async def kill(box):
        [container] = find_containers(engine, session=box.session)
        await anyio.to_thread.run_sync(lambda: engine.api.kill(container.id))
        with anyio.fail_after(10):
            while box.alive:  # noqa: ASYNC110 - a box tells nobody
                await anyio.sleep(0.02)

    make(options(), paths, kill)

    assert left(paths) == []


@pytest.mark.docker
@pytest.mark.usefixtures("engine")
def test_missing_image_leaves_nothing(options, paths):
    """Neither folder nor volume."""
    with pytest.raises(EngineError, match="no-such-image"):
        make(options(image="glovebox/no-such-image:none"), paths, None)

    assert left(paths) == []


@pytest.mark.docker
def test_box_that_lacks_a_control_does_not_wait(options, paths, engine, tmp_path):
    """It would be refused by every session."""
    policy = tmp_path / "p.yaml"
    policy.write_text(
        "version: 1\nname: p\nextends: [default]\n"
        "sandbox: {read_only_root: false, require: [read_only_root]}\n"
    )

    with pytest.raises(PostureError, match="read_only_root"):
        make(options(policies=(str(policy),)), paths, None)

    assert left(paths) == []
    assert [box for box in find_containers(engine) if box.owner.endswith(str(paths.state))] == []


def test_whole_home_is_refused(options, paths, tmp_path):
    """A pool works on no more than a session may."""
    with pytest.raises(UsageError):
        BoxMaker(options(directory=paths.state.parent / "/"), paths, os.environ)

    assert tmp_path.exists()
