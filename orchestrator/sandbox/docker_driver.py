"""The real Lifecycle: one container a session, on any engine that speaks Docker's API."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio
from anyio import to_thread

from orchestrator.config.assets import asset
from orchestrator.engine.base_image import present_image
from orchestrator.engine.beside import beside
from orchestrator.engine.client import Engine
from orchestrator.engine.containers import (
    attach,
    create_container,
    find_containers,
    leftovers,
    remove_container,
    start_container,
    wait_gone,
)
from orchestrator.engine.facts import EngineInfo
from orchestrator.engine.host_limits import container_limits
from orchestrator.engine.images import image_digest
from orchestrator.engine.labels import BOX, owner_label
from orchestrator.sandbox.box import Box
from orchestrator.sandbox.connection import Connection
from orchestrator.sandbox.container_spec import Ground, ImageConfig, container_options
from orchestrator.sandbox.driver import BoxSpec
from orchestrator.sandbox.engine_ways import adapted, has_ipv6, makes_network, seccomp_option
from orchestrator.sandbox.handoff import HandedBox
from orchestrator.sandbox.heart import Heart
from orchestrator.sandbox.hello import Ready, hello_bytes
from orchestrator.sandbox.runtime_dir import SocketDirectory, runtime_root, sweep
from orchestrator.sandbox.told import host_limits, runtime_of, shows_limits, told_by, told_of
from orchestrator.schema.ids import Digest, SessionId

T = TypeVar("T")


class _OutdatedError(Exception):
    """Raised where the engine is another than the one that a box was created for."""


END_S = 2.0
"""How long a box may take to end by itself when its lifeline is cut."""


@dataclass(slots=True)
class Started:
    """One box of this process, from its creation on."""

    container: str
    connection: Connection | None = None
    facts: Mapping[str, str] = field(default_factory=dict)


class DockerLifecycle:
    """Starts and ends boxes on one engine, for any number of sessions.

    Sessions may live in several event loops; each keeps to its own for all that it asks here.
    """

    def __init__(
        self, engine: Engine, *, runtime: Path | None = None, sockets: bool = True
    ) -> None:
        """``runtime`` is where sockets go, by default a private directory of this user.

        Without ``sockets`` calls go over the attached streams, as they do on a remote engine.
        """
        self._engine = engine
        self._sockets = sockets
        self._runtime = runtime or runtime_root(os.environ, os.geteuid())
        self._seccomp = asset("sandbox-image") / "seccomp.json"
        self._heart = Heart()
        self._info: EngineInfo | None = None
        self._started: dict[SessionId, Started] = {}

    async def start(self, spec: BoxSpec) -> Box:
        """Create and start the box; returns when its tool server is ready."""
        # Asked for each: the engine may have been restarted since, or be a newer one by now. But
        # while it answers, what it said last time serves to create the box.
        async with beside(self._engine.info) as asking:
            if self._info is not None:
                with suppress(_OutdatedError):
                    return await self._start(spec, self._info, asking)
            self._info = await asking
            return await self._start(spec, self._info, asking)

    async def stop(self, session: SessionId, *, gone: bool = True) -> None:
        """End the session's box and return when it is gone; no box is no error.

        With ``gone`` False it returns as soon as nothing runs in the box any more, by the word of
        its tool server; the engine then removes the container by itself.
        """
        started = self._started.get(session)
        if started is None:
            found = await _threaded(
                lambda: find_containers(self._engine, session=session, kind=BOX)
            )
            for container in found:
                await self._remove(container.id)
            return
        connection = started.connection
        if connection is not None:
            # First let go: an engine may wait for an attachment that nobody reads.
            ended = await connection.end(END_S)
            if ended and not gone:
                return
        del self._started[session]
        if connection is None or not await _threaded(
            lambda: wait_gone(self._engine, started.container, END_S)
        ):
            await self._remove(started.container)

    def forget(self, session: SessionId) -> None:
        """Keep nothing more of a box that ends by itself."""
        self._started.pop(session, None)

    async def hand_over(self, session: SessionId) -> HandedBox | None:
        """Let go of a started box for another process to take over; None, and gone, if it cannot be."""
        started = self._started[session]
        held = started.connection.hand_over() if started.connection is not None else None
        if held is None:
            await self.stop(session)
            return None
        del self._started[session]
        return HandedBox(started.container, started.facts, held)

    def is_up(self, session: SessionId) -> bool:
        """Say whether a box that was started here is still connected."""
        started = self._started.get(session)
        connection = started.connection if started is not None else None
        return connection is not None and connection.calls.failure is None

    def take_over(self, spec: BoxSpec, handed: HandedBox) -> Box:
        """Go on with a box that another process started from an equal spec."""
        connection = Connection.take_over(handed.held, self._heart, gone=self._engine.is_gone)
        self._started[spec.session] = Started(handed.container, connection, handed.facts)
        return Box(spec, connection.calls, handed.facts)

    async def answers(self, session: SessionId, seconds: float) -> bool:
        """Say whether a box that was taken over answers the heartbeat within the time."""
        started = self._started.get(session)
        connection = started.connection if started is not None else None
        return connection is not None and await connection.answered(seconds)

    async def image_digest(self, image: str) -> Digest:
        """Return the content digest the image name stands for; EngineError when it is missing."""
        return await _threaded(lambda: image_digest(self._engine, image))

    async def reap(self) -> list[SessionId]:
        """Remove the containers and socket directories of dead harness processes."""
        if self._info is None:
            self._info = await _threaded(self._engine.info)
        local = self._info.local
        await _threaded(lambda: sweep(self._runtime))
        found = await _threaded(lambda: find_containers(self._engine))
        dead = leftovers(found, now=time.time(), same_machine=local)
        for container in dead:
            await self._remove(container.id)
        return sorted({SessionId(container.session) for container in dead if container.session})

    async def _start(self, spec: BoxSpec, info: EngineInfo, asking: Awaitable[EngineInfo]) -> Box:
        """Return the box; _OutdatedError where ``info`` turns out to hold no more."""
        directory = SocketDirectory(self._runtime) if info.local and self._sockets else None
        try:
            return await self._raise(spec, info, directory, asking=asking)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.stop(spec.session)
            raise
        finally:
            # The box has its connection by now; the mount itself outlives the directory.
            if directory is not None:
                directory.close()

    async def _raise(
        self,
        spec: BoxSpec,
        info: EngineInfo,
        directory: SocketDirectory | None,
        *,
        asking: Awaitable[EngineInfo],
    ) -> Box:
        digest, image = await _threaded(lambda: _image(self._engine, spec.image))
        ground = Ground(
            owner=spec.owner or owner_label(),
            seccomp=seccomp_option(info, self._seccomp),
            socket_directory=str(directory.leaf) if directory else None,
            image=image,
            names=self._names(spec, info, directory),
            ipv6=has_ipv6(),
        )
        # By digest: what is recorded is what runs, whoever moves the name meanwhile.
        connection = await self._create(
            spec, adapted(container_options(replace(spec, image=digest), ground), info)
        )
        # Nothing runs yet: what runs is what was asked for by what holds now.
        if await asking != info:
            raise _OutdatedError
        hello = hello_bytes(
            spec, image.environment, token=connection.token, has_socket=directory is not None
        )
        async with beside(lambda: told_of(info, spec, digest=digest, image=image)) as telling:
            ready = await self._bring_up(spec.session, hello, directory)
            facts = await telling | told_by(ready)
        if info.local and not shows_limits(info, spec):
            container = self._started[spec.session].container
            facts |= host_limits(await _threaded(lambda: container_limits(self._engine, container)))
        self._started[spec.session].facts = facts
        return Box(spec, connection.calls, facts)

    def _names(
        self, spec: BoxSpec, info: EngineInfo, directory: SocketDirectory | None
    ) -> str | None:
        # What joins the box's network has these files from the engine, which must have made them.
        if directory is None or spec.joined:
            return None
        return str(directory.names) if makes_network(info, runtime_of(info, spec)) else None

    async def _create(self, spec: BoxSpec, options: dict[str, Any]) -> Connection:
        name = f"glovebox-{spec.session}"
        container = await _threaded(lambda: create_container(self._engine, name, options))
        started = self._started[spec.session] = Started(container)
        attachment = await _threaded(lambda: attach(self._engine, container))
        started.connection = Connection(attachment, self._heart, gone=self._engine.is_gone)
        return started.connection

    async def _bring_up(
        self, session: SessionId, hello: bytes, directory: SocketDirectory | None
    ) -> Ready:
        """Start and greet at once: the engine has things to do yet while the server loads."""
        started = self._started[session]
        connection = started.connection
        if connection is None:
            raise RuntimeError("a box is started before it is created")
        starting = asyncio.get_running_loop().run_in_executor(
            None, start_container, self._engine, started.container
        )
        starting.add_done_callback(lambda done: connection.give_up() if _failed(done) else None)
        try:
            return await connection.greet(hello, directory.listener if directory else None)
        finally:
            with anyio.CancelScope(shield=True):
                await asyncio.wait([starting])
            if (failure := starting.exception()) is not None:
                # The greeting failed by it.
                raise failure

    async def _remove(self, container: str) -> None:
        await _threaded(lambda: remove_container(self._engine, container))


async def _threaded(work: Callable[[], T]) -> T:
    """Run what blocks in a thread; a cancelled caller still waits, so that nothing is lost."""
    return await to_thread.run_sync(work)


def _failed(done: asyncio.Future[None]) -> bool:
    return done.cancelled() or done.exception() is not None


def _image(engine: Engine, name: str) -> tuple[Digest, ImageConfig]:
    """Return an image's digest and what it declares; EngineError when it is missing."""
    found = present_image(engine, name)
    if found is None:
        return image_digest(engine, name), ImageConfig()
    config = found.get("Config") or {}
    return Digest(found["Id"]), ImageConfig(
        tuple(config.get("Env") or ()), tuple(config.get("Volumes") or ())
    )
