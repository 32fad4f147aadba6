"""What lets a person into a running session: its control socket, and previews asked for."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio

from orchestrator.config.paths import Paths
from orchestrator.dispatch.output import OutputFilter
from orchestrator.harness.control import control_socket
from orchestrator.harness.front import FrontDoor
from orchestrator.harness.person import Person, PersonalAccess
from orchestrator.harness.preview import (
    UNTRUSTED,
    PreviewCount,
    PreviewSpec,
    address_of,
    forward,
    listening,
)
from orchestrator.harness.record import Record
from orchestrator.harness.room import Room
from orchestrator.sandbox.driver import BoxStream
from orchestrator.schema.terminal_text import escape_terminal


@asynccontextmanager
async def joinable(
    record: Record, room: Room, output: OutputFilter, *, paths: Paths
) -> AsyncIterator[PersonalAccess]:
    """Let other processes of this user join until the end of the block."""
    access = PersonalAccess(room.box, record.audit, output, paths.recordings(record.session))
    async with control_socket(record.session, access, os.environ):
        yield access


@asynccontextmanager
async def previewed(
    specs: Sequence[PreviewSpec], access: PersonalAccess, front: FrontDoor
) -> AsyncIterator[None]:
    """Serve the ports that were asked for until the end of the block."""
    if not specs:
        yield
        return
    async with anyio.create_task_group() as group:
        for spec in specs:
            await group.start(_preview, spec, access, front)
        front.note(UNTRUSTED)
        try:
            yield
        finally:
            group.cancel_scope.cancel()


async def _preview(
    spec: PreviewSpec,
    access: PersonalAccess,
    front: FrontDoor,
    *,
    task_status: anyio.abc.TaskStatus[None],
) -> None:
    count = PreviewCount()

    async def open_port(port: int) -> BoxStream:
        return count.counted(await access.open_port(port))

    def tell(reason: str) -> None:
        count.refused += 1
        front.note(escape_terminal(f"preview: {reason}"))

    async with listening(spec) as listener:
        address = address_of(listener)
        who = Person.here("run").body()
        await access.note("preview_start", {"port": spec.port, "listen": address, "who": who})
        try:
            front.note(f"port {spec.port} of the box: http://{address}/")
            task_status.started()
            await forward(listener, spec.port, open_port, tell=tell)
        finally:
            with anyio.CancelScope(shield=True):
                await access.note("preview_end", {"port": spec.port, **count.body()})
