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
from orchestrator.harness.box_spec import service_specs
from orchestrator.harness.options import RunOptions
from orchestrator.harness.plan import RoomPlan
from orchestrator.harness.pool.claimed import NO_CLAIM, Claim, Claimed
from orchestrator.harness.raising import Raising
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
from orchestrator.workspace.opening import drop_workspace
from orchestrator.workspace.recover import recover
from orchestrator.workspace.warmth import remove_unclaimed
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
    options: RunOptions,
    policy: EffectivePolicy,
    paths: Paths,
    *,
    session: SessionId,
    note: Note,
    claim: Claim = NO_CLAIM,
) -> AsyncIterator[Room]:
    """Bring the box up, or move into a warm one; on leaving it is gone, whatever happened inside.

    A claimed box is of ``session`` already.
    """
    async with AsyncExitStack() as stack:
        plan = RoomPlan(options, policy, session)
        if claim.claimed is not None:
            yield await _move_in(stack, plan, claim.claimed, note=note)
        else:
            room = await _bring_up(stack, plan, paths, note=note)
            start = f"cold ({claim.why})" if claim.why else "cold"
            room.posture = _with_start(room.posture, start)
            yield room


async def _move_in(stack: AsyncExitStack, plan: RoomPlan, claimed: Claimed, *, note: Note) -> Room:
    """Return the room around a warm box; who claimed it closes what belongs to it."""
    sweep = partial(remove_unclaimed, claimed.paths, claimed.engine)
    await stack.enter_async_context(tidying(claimed.lifecycle, note, sweep))
    stack.push_async_callback(_stop, claimed.lifecycle, claimed.session)
    wanted = service_specs(plan.policy)
    services = await stack.enter_async_context(
        services_beside(claimed.session, wanted, engine=claimed.engine, box=claimed.box)
    )
    claimed.used = True
    return Room(
        session=claimed.session,
        directory=plan.options.directory,
        mode=claimed.workspace.site.record.mode,
        image_digest=claimed.image_digest,
        posture=_with_start(claimed.posture, "warm"),
        services=services,
        box=claimed.box,
        workspace=claimed.workspace,
        lifecycle=claimed.lifecycle,
    )


async def _bring_up(stack: AsyncExitStack, plan: RoomPlan, paths: Paths, *, note: Note) -> Room:
    options, policy, session = plan.options, plan.policy, plan.session
    # Refused before anything is made.
    _ = plan.mode
    engine = await to_thread.run_sync(lambda: connect(environ=os.environ))
    stack.callback(engine.close)
    lifecycle = DockerLifecycle(engine)
    sweep = partial(remove_unclaimed, paths, engine)
    await stack.enter_async_context(tidying(lifecycle, note, sweep))
    for line in await to_thread.run_sync(recover, paths, engine):
        note(escape_terminal(line))
    digest = await lifecycle.image_digest(plan.image)
    raising = Raising(plan, paths, engine, lifecycle, note)
    workspace, prepared = await raising.prepare()
    for line in prepared.notices:
        note(escape_terminal(line))
    unused = stack.enter_context(_Unused(session, paths, engine, resumed=_resumes(options)))
    stack.push_async_callback(_stop, lifecycle, session)
    box, posture = await raising.start(prepared)
    services = await stack.enter_async_context(
        services_beside(session, service_specs(policy), engine=engine, box=box)
    )
    unused.used = True
    return Room(
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


def _with_start(posture: Posture, start: str) -> Posture:
    return replace(posture, facts={**posture.facts, "start": start})


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
