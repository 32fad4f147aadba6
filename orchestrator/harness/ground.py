"""What every session stands on: record, box, snapshots, who judges; brought up and ended in order.

Whoever works in it, a model's loop or a program that is wrapped, is opened on this.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import anyio
from anyio import to_thread

from orchestrator.audit.log import AuditLog
from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.credentials.store import KeyStore
from orchestrator.dispatch.execs import Execs
from orchestrator.dispatch.judge import Judge
from orchestrator.dispatch.output import OutputFilter
from orchestrator.errors import AuditError
from orchestrator.harness.asking import record_late
from orchestrator.harness.box_models.box_use import BoxUse
from orchestrator.harness.closing import Closing
from orchestrator.harness.egress.net import Net
from orchestrator.harness.egress.parts import WayParts
from orchestrator.harness.egress.running import RunningCalls
from orchestrator.harness.egress.unanswered import Unanswered
from orchestrator.harness.egress.way import open_way_out, way_facts
from orchestrator.harness.front import FrontDoor
from orchestrator.harness.governed import Governed
from orchestrator.harness.history import TurnHistory, open_history
from orchestrator.harness.joining import joinable, previewed
from orchestrator.harness.luggage import check_environment
from orchestrator.harness.options import RunOptions
from orchestrator.harness.packages.opening import package_hosts
from orchestrator.harness.packages.taking import Taking
from orchestrator.harness.person import PersonalAccess
from orchestrator.harness.pool.beginning import begin_pool
from orchestrator.harness.pool.claim import Claimant
from orchestrator.harness.pool.claimed import Claim
from orchestrator.harness.project_image import ProjectImage
from orchestrator.harness.record import Record, open_record
from orchestrator.harness.rewinding import mend_rewind
from orchestrator.harness.room import Note, Room, open_room
from orchestrator.harness.spending import cost_before_usd
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.provenance import layer_facts
from orchestrator.redaction.redactor import Redactor
from orchestrator.schema.event import Observer, SessionStart
from orchestrator.schema.ids import SessionId
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.workspace.rewind import FileHistory

SIGN_EVERY_S = 1.0
"""How often a due signature is looked for; the log itself says when one is due."""


OpenWorker = Callable[[Observer], AbstractAsyncContextManager[str]]
"""Opens what needs no box, before there is one; gives the model's name for the records."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A session that is up, but for who works in it."""

    id: SessionId
    governed: Governed
    record: Record
    room: Room
    history: TurnHistory
    observe: Observer
    output: OutputFilter
    access: PersonalAccess
    """The way into the box for a person."""
    use: BoxUse
    """What programs in the box have used of models."""
    unanswered: Unanswered
    """What nobody could be asked about of what would leave the box."""
    cost_before_usd: float
    """What the session's models had cost before it was opened, as far as it is known."""

    @property
    def judge(self) -> Judge:
        """Who judges each request."""
        audit = self.record.audit
        return self.governed.judge(self.id, audit, self.output, observe=self.observe)

    @property
    def execs(self) -> Execs:
        """Who looks at each program that is started."""
        return self.governed.execs(self.record.audit, self.output, observe=self.observe)


@asynccontextmanager
async def open_ground(
    governed: Governed,
    settings: Settings,
    paths: Paths,
    *,
    front: FrontDoor,
    worker: OpenWorker,
    facts: Mapping[str, str] | None = None,
    net: Net | None = None,
) -> AsyncIterator[Ground]:
    """Bring it up; on leaving, end the box, sign the audit's end and close the files.

    ``facts`` are told and recorded with the box's own. ``net`` is what is let out to; by default
    the host's own network.
    """
    options, policy = governed.options, governed.policy
    await take_steps(governed, settings, paths, front=front, net=net)
    async with AsyncExitStack() as stack:
        claimant = Claimant(options, policy, paths=paths, environ=os.environ, note=front.note)
        claim = await stack.enter_async_context(claimant.claimed())
        record = stack.enter_context(open_record(options, paths, session=claim.session))
        observe = RunningCalls(front.observer(record.session))
        await _mend(record, paths, front)
        model = await stack.enter_async_context(worker(observe))
        # After the model: by now the keys it asked for are known.
        output = output_filter(options, governed.keys)
        room = await stack.enter_async_context(
            _open_room(options, policy, paths, record=record, note=front.note, claim=claim)
        )
        told = {**way_facts(policy, settings.egress), **(facts or {})}
        room.posture = replace(room.posture, facts={**room.posture.facts, **told})
        begin_pool(options, settings.pool, paths, mode=room.mode, note=front.note)
        begin_record(record, policy, room, model=model, project=governed.project)
        stack.callback(record_late, governed.desk, record.session, record.audit)
        await stack.enter_async_context(signed_in_time(record.audit))
        tell_warnings(front, record, options.remarks)
        cost_before = cost_before_usd(record.store, paths.audit_log(record.session))
        files = FileHistory(room.workspace)
        history = await stack.enter_async_context(open_history(files, observe, record.moment))
        way = WayParts(
            governed,
            record.session,
            room.box,
            record.audit,
            output,
            observe,
            note=front.note,
            paths=paths,
            settings=settings.egress,
            providers=settings.providers,
            net=net or Net(),
            packages=await package_hosts(governed, room.ran, paths=paths, note=front.note),
            cost_before_usd=cost_before,
        )
        await stack.enter_async_context(open_way_out(way))
        access = await stack.enter_async_context(joinable(record, room, output, paths=paths))
        await stack.enter_async_context(previewed(options.previews, access, front))
        last = (access, way.use, way.unanswered, cost_before)
        ground = Ground(record.session, governed, record, room, history, observe, output, *last)
        observe(start_event(ground, model=model))
        yield ground


async def take_steps(
    governed: Governed, settings: Settings, paths: Paths, *, front: FrontDoor, net: Net | None
) -> None:
    """Take the policy's steps on the session's image, where they were not taken yet."""
    output = output_filter(governed.options, governed.keys)
    taking = Taking(governed, output, paths, front.note, settings.egress, net=net or Net())
    await taking.take()


@asynccontextmanager
async def _open_room(
    options: RunOptions,
    policy: EffectivePolicy,
    paths: Paths,
    *,
    record: Record,
    note: Note,
    claim: Claim,
) -> AsyncIterator[Room]:
    with told_closing(record, note) as closing:
        async with open_room(
            options,
            policy,
            paths,
            session=record.session,
            note=note,
            closing=closing,
            claim=claim,
        ) as room:
            yield room


@contextmanager
def told_closing(record: Record, note: Note) -> Iterator[Closing]:
    """Give what is told of the end; what is left behind is in the chain's last own record."""
    closing = Closing.noting(note)
    try:
        yield closing
    finally:
        if closing.troubles:
            record.note_end(left=[trouble.what for trouble in closing.troubles])


@asynccontextmanager
async def signed_in_time(audit: AuditLog) -> AsyncIterator[None]:
    """Sign the chain every few seconds, so that an idle session's last records are vouched for."""

    async def sign() -> None:
        while True:
            await anyio.sleep(SIGN_EVERY_S)
            try:
                await to_thread.run_sync(audit.checkpoint_due)
            except AuditError:
                # The log has stopped: the next record is refused, and that ends the run.
                return

    async with anyio.create_task_group() as group:
        group.start_soon(sign)
        try:
            yield
        finally:
            group.cancel_scope.cancel()


async def _mend(record: Record, paths: Paths, front: FrontDoor) -> None:
    """Finish what a killed rewind of this session left."""
    if record.resumed and (mended := await mend_rewind(record.store, paths)):
        front.note(escape_terminal(mended))


def tell_warnings(front: FrontDoor, record: Record, remarks: Iterable[str] = ()) -> None:
    """Say what the start left to be said, and what reading an old session file had to mend."""
    for remark in remarks:
        front.note(remark)
    for warning in record.warnings:
        front.note(escape_terminal(warning))


def output_filter(options: RunOptions, keys: KeyStore) -> OutputFilter:
    """Return the session's redaction, which knows the keys that were asked for so far."""
    redactor = Redactor(known_keys(keys))
    check_environment(options.environment, redactor)
    return OutputFilter(redactor)


def known_keys(keys: KeyStore, told: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Return the keys that were asked for so far, as a redactor learns them.

    ``told`` are those it knows already; they keep their names and are left out.
    """
    fresh = sorted(keys.known_values() - set(told.values()))
    return {f"key-{number}": value for number, value in enumerate(fresh, len(told) + 1)}


def begin_record(
    record: Record, policy: EffectivePolicy, room: Room, *, model: str, project: ProjectImage
) -> None:
    """Begin or take up the session's chain, with all that it runs under."""
    brought = _luggage(project.options, room, project)
    record.start(policy, room.image_digest, room.posture, model=model, brought=brought)
    room.beginning.over()


def _luggage(options: RunOptions, room: Room, project: ProjectImage) -> dict[str, Any]:
    """Return what else the session brings along; of variables the names alone."""
    brought = {
        "env": sorted(options.environment),
        "add_dirs": [str(directory) for directory in options.add_dirs],
        "services": dict(room.services),
        "project_image": dict(project.facts),
    }
    return {key: value for key, value in brought.items() if value}


def start_event(ground: Ground, *, model: str) -> SessionStart:
    """Return the event of a session that is up."""
    policy, room, project = ground.governed.policy, ground.room, ground.governed.project
    return SessionStart(
        model=model,
        policy={"name": policy.name, "digest": policy.digest, "layers": layer_facts(policy)},
        image=room.image_digest,
        posture={
            "controls": dict(room.posture.controls),
            "facts": dict(room.posture.facts),
            "lacking": dict(room.posture.found),
        },
        workspace={"mode": room.mode, "path": str(room.directory)}
        | _luggage(ground.governed.options, room, project),
        resumed=ground.record.resumed,
    )
