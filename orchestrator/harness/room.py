"""The place a session works in: engine, workspace and box, brought up and proved together."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import anyio
from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.engine.client import Engine
from orchestrator.engine.patience import session_patience
from orchestrator.harness.beginnings import Beginning, remove_unbegun
from orchestrator.harness.box_spec import service_specs
from orchestrator.harness.closing import Closing
from orchestrator.harness.engines import hold_engine
from orchestrator.harness.options import RunOptions
from orchestrator.harness.plan import RoomPlan
from orchestrator.harness.pool.claimed import NO_CLAIM, Claim, Claimed
from orchestrator.harness.raising import Raising
from orchestrator.harness.tidying import tidying
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.sandbox.driver import Lifecycle, RunningBox
from orchestrator.sandbox.services import services_beside
from orchestrator.schema.ids import Digest, SessionId
from orchestrator.schema.posture import Posture
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.commit_set import BoxCommits
from orchestrator.workspace.commits import read_commits
from orchestrator.workspace.handover import read_changes
from orchestrator.workspace.node import Change, ChangeSet, WorkspaceMode
from orchestrator.workspace.recover import recover
from orchestrator.workspace.warmth import drop_unused, remove_unclaimed
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
    beginning: Beginning
    """What announces the session until it has a file."""
    found: ChangeSet | None = None
    """What the box changed, once it has ended."""

    @property
    def ran(self) -> Digest:
        """The image that the box really runs from."""
        return Digest(self.posture.facts["image_digest"])

    async def settle(self, closing: Closing) -> list[dict[str, Any]] | None:
        """End the box and return what it changed, one row a change; nothing changed is dropped.

        None where that cannot be told now. The engine may still be at removing the container;
        leaving the room waits for that.
        """
        ended = False
        with closing.step("box"):
            await self.lifecycle.stop(self.session, gone=False)
            ended = True
        with closing.step("changes", hint=f"they are kept: glovebox diff {self.session}"):
            # Where it may still run, only the engine can hold it still.
            self.found = await read_changes(self.workspace, ended=ended)
        return None if self.found is None else [_row(change) for change in self.found.changes]

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
    closing: Closing | None = None,
    claim: Claim = NO_CLAIM,
) -> AsyncIterator[Room]:
    """Bring the box up, or move into a warm one; on leaving it is gone, whatever happened inside.

    Where it cannot be removed, ``closing`` tells, by default by ``note``; an engine that is silent
    is waited for once and not step by step. A claimed box is of ``session`` already.
    """
    closing = closing or Closing.noting(note)
    with session_patience() as patience:
        async with AsyncExitStack() as stack:
            leaving = _Leaving(stack, closing, note)
            with patience.until_end():
                plan = RoomPlan(options, policy, session)
                if claim.claimed is not None:
                    yield await _move_in(leaving, plan, claim.claimed)
                else:
                    room = await _bring_up(leaving, plan, paths)
                    start = f"cold ({claim.why})" if claim.why else "cold"
                    room.posture = _with_start(room.posture, start)
                    yield room


@dataclass(frozen=True, slots=True)
class _Leaving:
    """What is undone on leaving, newest first, and who hears of what could not be."""

    stack: AsyncExitStack
    closing: Closing
    note: Note

    async def sweep(self, lifecycle: Lifecycle, after: Callable[[], object]) -> None:
        """Remove what dead runs left, beside everything else."""
        await self.stack.enter_async_context(tidying(lifecycle, self.note, after))

    def end_box(self, lifecycle: Lifecycle, session: SessionId) -> None:
        """Have the box end."""
        self.stack.push_async_callback(self._end_box, lifecycle, session)

    async def serve(self, plan: RoomPlan, engine: Engine, box: RunningBox) -> Mapping[str, Digest]:
        """Start the services beside the box; return their images by name."""
        wanted = service_specs(plan.policy)
        beside = services_beside(
            plan.session, wanted, engine=engine, box=box, on_left=self.closing.failed
        )
        return await self.stack.enter_async_context(beside)

    async def _end_box(self, lifecycle: Lifecycle, session: SessionId) -> None:
        with anyio.CancelScope(shield=True), self.closing.step(f"box glovebox-{session}"):
            await lifecycle.stop(session)


async def _move_in(leaving: _Leaving, plan: RoomPlan, claimed: Claimed) -> Room:
    """Return the room around a warm box; who claimed it closes what belongs to it."""
    await leaving.sweep(claimed.lifecycle, partial(_sweep, claimed.paths, claimed.engine))
    leaving.end_box(claimed.lifecycle, claimed.session)
    services = await leaving.serve(plan, claimed.engine, claimed.box)
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
        beginning=claimed.beginning,
    )


async def _bring_up(leaving: _Leaving, plan: RoomPlan, paths: Paths) -> Room:
    options, session, note = plan.options, plan.session, leaving.note
    # Refused before anything is made.
    _ = plan.mode
    held = await to_thread.run_sync(hold_engine, paths, os.environ)
    leaving.stack.callback(held.close)
    engine, lifecycle = held.engine, held.lifecycle
    await leaving.sweep(lifecycle, partial(_sweep, paths, engine))
    for line in await to_thread.run_sync(recover, paths, engine):
        note(escape_terminal(line))
    digest = await lifecycle.image_digest(plan.image)
    raising = Raising(plan, paths, engine, lifecycle, note)
    beginning = Beginning.announce(session, paths)
    try:
        workspace, prepared = await raising.prepare()
    except BaseException:
        beginning.release()
        raise
    for line in prepared.notices:
        note(escape_terminal(line))
    resumes = _resumes(options)
    unused = _Unused(beginning, session, paths, engine, closing=leaving.closing, used=resumes)
    leaving.stack.enter_context(unused)
    leaving.end_box(lifecycle, session)
    box, posture = await raising.start(prepared)
    services = await leaving.serve(plan, engine, box)
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
        beginning=beginning,
    )


def _sweep(paths: Paths, engine: Engine) -> None:
    remove_unclaimed(paths, engine)
    remove_unbegun(paths, engine)


@dataclass(slots=True)
class _Unused:
    """Drops a new workspace whose box never came up: there can be nothing in it."""

    beginning: Beginning
    session: SessionId
    paths: Paths
    engine: Engine
    _: KW_ONLY
    closing: Closing
    used: bool

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.used:
            with self.closing.step(f"workspace of session {self.session}"):
                drop_unused(self.session, paths=self.paths, engine=self.engine)
        self.beginning.release()


def _resumes(options: RunOptions) -> bool:
    return not options.fork and (options.resume is not None or options.resume_latest)


def _with_start(posture: Posture, start: str) -> Posture:
    return replace(posture, facts={**posture.facts, "start": start})


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
