"""The place a session works in: engine, workspace and box, brought up and proved together."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import anyio
from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine, connect
from orchestrator.harness.box_spec import require_posture, service_specs
from orchestrator.harness.image_uses import note_use
from orchestrator.harness.images import box_image, with_source
from orchestrator.harness.luggage import Luggage
from orchestrator.harness.options import RunOptions
from orchestrator.harness.plan import RoomPlan
from orchestrator.harness.tidying import tidying
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.sandbox.docker_driver import DockerLifecycle
from orchestrator.sandbox.driver import Lifecycle, RunningBox
from orchestrator.sandbox.services import services_beside
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.posture import Posture
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.commit_set import BoxCommits
from orchestrator.workspace.commits import read_commits
from orchestrator.workspace.handover import read_changes
from orchestrator.workspace.node import Change, ChangeSet, WorkspaceMode
from orchestrator.workspace.opening import drop_workspace, prepare_workspace
from orchestrator.workspace.recover import recover
from orchestrator.workspace.workspace import Workspace

Note = Callable[[str], None]


@dataclass(slots=True)
class Room:
    """A running box on a prepared workspace."""

    session: SessionId
    directory: Path
    mode: WorkspaceMode
    image_digest: Digest
    posture: Posture
    box: RunningBox
    services: Mapping[str, Digest]
    """Images of the services beside the box, by name."""
    workspace: Workspace
    lifecycle: Lifecycle
    found: ChangeSet | None = None
    """What the box changed, once it has ended."""

    async def settle(self) -> list[dict[str, Any]]:
        """End the box and return what it changed, one row a change; nothing changed is dropped.

        The engine may still be at removing the container; leaving the room waits for that.
        """
        await self.lifecycle.stop(self.session, gone=False)
        found = await read_changes(self.workspace, ended=True)
        self.found = found
        return [_row(change) for change in found.changes]

    async def commits(self) -> BoxCommits:
        """Return the commits that wait in the box, which ``settle`` has ended."""
        if self.found is None:
            return BoxCommits(self.session)
        return await read_commits(self.workspace, self.found)


@asynccontextmanager
async def open_room(
    options: RunOptions, policy: EffectivePolicy, paths: Paths, *, session: SessionId, note: Note
) -> AsyncIterator[Room]:
    """Bring the box up; on leaving it is gone, whatever happened inside."""
    plan = RoomPlan(options, policy, session)
    # Refused before anything is made.
    _ = plan.mode
    async with AsyncExitStack() as stack:
        engine = await to_thread.run_sync(lambda: connect(environ=os.environ))
        stack.callback(engine.close)
        lifecycle = DockerLifecycle(engine)
        await stack.enter_async_context(tidying(lifecycle, note))
        for line in await to_thread.run_sync(recover, paths, engine):
            note(escape_terminal(line))
        digest = await lifecycle.image_digest(plan.image)
        wanted = plan.workspace()
        workspace, prepared = await to_thread.run_sync(
            lambda: prepare_workspace(wanted, paths=paths, engine=engine)
        )
        for line in prepared.notices:
            note(escape_terminal(line))
        unused = stack.enter_context(_Unused(session, paths, engine, resumed=_resumes(options)))
        stack.push_async_callback(_stop, lifecycle, session)
        luggage = Luggage(options, policy, paths=paths, engine=engine)
        tenant = await to_thread.run_sync(lambda: luggage.tenant(wanted, prepared))
        image = await to_thread.run_sync(
            lambda: box_image(
                engine,
                plan.image,
                sandbox=policy.sandbox,
                ids=(tenant.uid, tenant.gid),
                note=note,
            )
        )
        box = await lifecycle.start(replace(plan.box(tenant), image=image.name))
        note_use(paths, image.digest, image.of_digest)
        posture = with_source(await box.probe(), image)
        require_posture(policy, posture)
        services = await stack.enter_async_context(
            services_beside(session, service_specs(policy), engine=engine, box=box)
        )
        unused.used = True
        yield Room(
            session=session,
            directory=options.directory,
            mode=prepared.mode,
            image_digest=digest,
            posture=posture,
            services=services,
            box=box,
            workspace=workspace,
            lifecycle=lifecycle,
        )


class _Unused:
    """Drops a new workspace whose box never came up: there can be nothing in it."""

    def __init__(self, session: SessionId, paths: Paths, engine: Engine, *, resumed: bool) -> None:
        self._drop = partial(drop_workspace, session, paths=paths, engine=engine)
        self.used = resumed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.used:
            self._drop()


def _resumes(options: RunOptions) -> bool:
    return options.resume is not None or options.resume_latest


async def _stop(lifecycle: Lifecycle, session: SessionId) -> None:
    with anyio.CancelScope(shield=True):
        await lifecycle.stop(session)


def _row(change: Change) -> dict[str, Any]:
    """Return a change as event data."""
    row: dict[str, Any] = {"path": change.path, "kind": change.kind}
    for name in ("renamed_from", "renamed_to", "refused", "conflict", "runs_on_host"):
        value = getattr(change, name)
        if value:
            row[name] = value
    if change.protected:
        row["protected"] = True
    return row
