"""The services beside a running box: started before the session, gone with it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import KW_ONLY, dataclass
from functools import partial

import anyio
from anyio import to_thread

from orchestrator.config.assets import asset
from orchestrator.engine.client import Engine
from orchestrator.engine.containers import (
    create_container,
    find_containers,
    has_ended,
    last_words,
    remove_container,
    start_container,
)
from orchestrator.engine.images import image_digest
from orchestrator.engine.labels import BOX, owner_label
from orchestrator.errors import BoxError, GloveboxError
from orchestrator.sandbox.driver import Executor
from orchestrator.sandbox.service_spec import ServiceSpec, service_options
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.request import ExecRequest
from orchestrator.schema.terminal_text import escape_terminal

OnLeft = Callable[[str, GloveboxError], None]
"""Called with what could not be removed, and why."""

_STEP_S = 0.1
_TRY_S = 5.0


@asynccontextmanager
async def services_beside(
    session: SessionId,
    wanted: Sequence[ServiceSpec],
    *,
    engine: Engine,
    box: Executor,
    on_left: OnLeft,
) -> AsyncIterator[dict[str, Digest]]:
    """Start the services and wait until each takes connections; yields their images by name.

    At the end each is removed; ``on_left`` is told of one that could not be.
    Raises EngineError for an image that is missing, BoxError for a service that does not come up.
    """
    if not wanted:
        yield {}
        return
    found = await to_thread.run_sync(lambda: find_containers(engine, session=session, kind=BOX))
    if not found:
        raise BoxError("services: the box is gone")
    beside = _Beside(engine, session, box=found[0].id)
    async with AsyncExitStack() as stack:
        images: dict[str, Digest] = {}
        containers: dict[str, str] = {}
        for spec in wanted:
            images[spec.name], container = await to_thread.run_sync(beside.create, spec)
            stack.push_async_callback(_remove, engine, container, spec.name, on_left=on_left)
            containers[spec.name] = container
            await to_thread.run_sync(start_container, engine, container)
        for spec in wanted:
            await _until_ready(spec, box, engine, containers[spec.name])
        yield images


@dataclass(frozen=True, slots=True)
class _Beside:
    engine: Engine
    session: SessionId
    _: KW_ONLY
    box: str

    def create(self, spec: ServiceSpec) -> tuple[Digest, str]:
        """Create the service's container; return the image's digest and the container."""
        image = image_digest(self.engine, spec.image)
        options = service_options(
            spec,
            image=image,
            session=self.session,
            box=self.box,
            owner=owner_label(),
            seccomp=(asset("sandbox-image") / "seccomp.json").read_text("utf-8"),
        )
        name = f"glovebox-{self.session}-{spec.name}"
        return image, create_container(self.engine, name, options)


async def _until_ready(spec: ServiceSpec, box: Executor, engine: Engine, container: str) -> None:
    deadline = time.monotonic() + spec.within_s
    knock = ExecRequest(f"exec 3<>/dev/tcp/127.0.0.1/{spec.port}", "/", _TRY_S)
    while True:
        outcome = await box.execute(knock)
        if outcome.data.get("exit_code") == 0:
            return
        ended = await to_thread.run_sync(has_ended, engine, container)
        if ended or time.monotonic() > deadline:
            why = "it ended" if ended else f"its port {spec.port} took no connection in time"
            raw = await to_thread.run_sync(partial(last_words, engine, container))
            said = escape_terminal(raw, keep_newlines=True)
            raise BoxError(
                f"service {spec.name}: {why}; "
                + (f"its last words:\n{said}" if said.strip() else "it printed nothing"),
                hint=f"services.{spec.name} of the policy says how it is started",
            )
        await anyio.sleep(_STEP_S)


async def _remove(engine: Engine, container: str, name: str, *, on_left: OnLeft) -> None:
    with anyio.CancelScope(shield=True):
        try:
            await to_thread.run_sync(remove_container, engine, container)
        except GloveboxError as error:
            on_left(f"service {name}", error)
