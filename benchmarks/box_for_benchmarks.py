"""One hardened box on an empty workspace, for whatever is measured."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from orchestrator.engine.client import connect
from orchestrator.engine.images import ensure_sandbox_image
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.driver import BoxSpec, Executor
from orchestrator.schema.ids import SessionId
from orchestrator.schema.mount import Mount

UID = 1000


@asynccontextmanager
async def open_box(*, exec_record: bool = True) -> AsyncIterator[Executor]:
    """Give a running box with the shipped image; it is gone afterwards."""
    engine = connect()
    image = ensure_sandbox_image(engine, lambda _: None)
    session = SessionId(secrets.token_hex(6))
    lifecycle = DockerLifecycle(engine)
    spec = BoxSpec(
        session=session,
        image=image.name,
        uid=UID,
        gid=UID,
        workdir="/workspace",
        mounts=(Mount("tmpfs", "", "/workspace", size=256 * 1024**2),),
        exec_record=exec_record,
    )
    try:
        yield await lifecycle.start(spec)
    finally:
        with anyio.CancelScope(shield=True):
            await lifecycle.stop(session)
        engine.close()
