"""The boxes an engine has: which run, ending one, and sweeping what dead runs left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.client import connect
from orchestrator.engine.containers import FoundContainer, find_containers
from orchestrator.engine.labels import BOX
from orchestrator.engine.made_images import present_digests
from orchestrator.errors import UsageError
from orchestrator.harness.beginnings import remove_unbegun
from orchestrator.harness.image_uses import forget_uses
from orchestrator.harness.pool.channel import pool_directory
from orchestrator.harness.pool.remains import remove_remains
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.schema.ids import SessionId
from orchestrator.sessions.lease import held_at_rest
from orchestrator.workspace.bind import tidy_dead_binds
from orchestrator.workspace.home import forget_lost_homes
from orchestrator.workspace.orphans import remove_orphans
from orchestrator.workspace.recover import recover
from orchestrator.workspace.warmth import is_unclaimed, remove_unclaimed


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did, one line each, raw."""

    boxes: tuple[SessionId, ...]
    applies: tuple[str, ...]
    volumes: tuple[str, ...]
    homes: tuple[str, ...]
    """Projects that are gone, whose home was removed."""
    warm: tuple[SessionId, ...]
    """Workspaces of dead pools, which no session had taken."""
    pools: tuple[str, ...]
    """Pools that are over, whose files were removed."""
    unbegun: tuple[SessionId, ...]
    """Killed starts, whose workspaces were removed before anything ran in them."""
    placeholders: tuple[SessionId, ...] = ()
    """Killed sessions of mode ``bind`` whose empty directories in people's projects were removed."""


@dataclass(frozen=True, slots=True)
class FoundBoxes:
    """The boxes of an engine, running or not."""

    sessions: tuple[FoundContainer, ...]
    waiting: tuple[FoundContainer, ...]
    """Those that a pool of this state directory keeps for a session to come."""


def running_boxes(paths: Paths) -> FoundBoxes:
    """Return the boxes of all sessions, and apart from them those that wait for one."""
    engine = connect()
    try:
        found = find_containers(engine, kind=BOX)
    finally:
        engine.close()
    waiting = {box.id for box in found if is_unclaimed(SessionId(box.session), paths=paths)}
    return FoundBoxes(
        tuple(box for box in found if box.id not in waiting),
        tuple(box for box in found if box.id in waiting),
    )


async def end_box(prefix: str) -> SessionId:
    """End the box of the one session whose id starts with ``prefix``."""
    engine = await to_thread.run_sync(connect)
    try:
        found = await to_thread.run_sync(lambda: find_containers(engine, kind=BOX))
        sessions = {SessionId(box.session) for box in found if box.session.startswith(prefix)}
        if len(sessions) != 1 or not prefix:
            raise UsageError(
                f"kill {prefix}: expected one session with a box, found {len(sessions)}",
                hint="glovebox ps lists them",
            )
        session = sessions.pop()
        await DockerLifecycle(engine).stop(session)
        return session
    finally:
        engine.close()


async def sweep_boxes(paths: Paths) -> Swept:
    """Remove what dead runs left in the engine, and mend applies that were cut short."""
    engine = await to_thread.run_sync(connect)
    try:
        boxes = await DockerLifecycle(engine).reap()
        warm = await to_thread.run_sync(remove_unclaimed, paths, engine)
        unbegun = await to_thread.run_sync(remove_unbegun, paths, engine)
        applies = await to_thread.run_sync(recover, paths, engine)
        tidied = await to_thread.run_sync(
            lambda: tidy_dead_binds(paths, engine, at_rest=lambda session: _at_rest(session, paths))
        )
        volumes = await to_thread.run_sync(remove_orphans, engine)
        homes = await to_thread.run_sync(lambda: forget_lost_homes(paths, engine))
        # The dates alone: they say nothing of an image that is gone.
        await to_thread.run_sync(lambda: forget_uses(paths, present_digests(engine)))
    finally:
        engine.close()
    pools = await to_thread.run_sync(lambda: remove_remains(pool_directory(os.environ)))
    return Swept(
        tuple(boxes),
        tuple(applies),
        tuple(volumes),
        tuple(homes),
        tuple(warm),
        tuple(pools),
        tuple(unbegun),
        tuple(tidied),
    )


@contextmanager
def _at_rest(session: SessionId, paths: Paths) -> Iterator[bool | None]:
    """Keep the session's file from being opened meanwhile; None where it has none yet."""
    file = next(paths.sessions.rglob(f"*_{session}.jsonl"), None)
    if file is None:
        yield None
        return
    with held_at_rest(file) as resting:
        yield resting
