"""A session without a model: a box, and a terminal in it for a person."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from orchestrator.config.paths import Paths
from orchestrator.config.settings import ApprovalsSettings, Settings
from orchestrator.harness.asking import confirmer_for
from orchestrator.harness.closing import Closing
from orchestrator.harness.egress.net import Net
from orchestrator.harness.egress.parts import WayParts
from orchestrator.harness.egress.running import RunningCalls
from orchestrator.harness.egress.way import open_way_out, way_facts
from orchestrator.harness.front import FrontDoor
from orchestrator.harness.governed import govern
from orchestrator.harness.ground import (
    begin_record,
    output_filter,
    signed_in_time,
    take_steps,
    tell_warnings,
    told_closing,
)
from orchestrator.harness.joining import joinable
from orchestrator.harness.options import NO_MODEL, RunOptions
from orchestrator.harness.packages.opening import package_hosts
from orchestrator.harness.person import PersonalAccess
from orchestrator.harness.record import Record, open_record
from orchestrator.harness.room import Room, open_room
from orchestrator.harness.spending import cost_before_usd
from orchestrator.schema.event import RunStatus
from orchestrator.schema.ids import SessionId


@dataclass(frozen=True, slots=True)
class Shell:
    """A room that is up, and the way into it."""

    id: SessionId
    access: PersonalAccess
    record: Record
    room: Room

    closing: Closing

    async def settle(self, *, exit_code: int, status: RunStatus = "done") -> int | None:
        """End the box, record the end, and return how many changes wait.

        None where that cannot be told now, for want of an engine.
        """
        self.record.note_end(status=status, exit_code=exit_code)
        changed = await self.room.settle(self.closing)
        if changed is None:
            return None
        self.record.note_end(changed=len(changed))
        return len(changed)


@asynccontextmanager
async def open_shell(
    options: RunOptions,
    paths: Paths,
    *,
    front: FrontDoor,
    settings: Settings | None = None,
    net: Net | None = None,
) -> AsyncIterator[Shell]:
    """Bring a box up for a person; on leaving it is gone and the audit is closed.

    ``net`` is what is let out to; by default the host's own network.
    """
    settings = settings or Settings()
    governed = await govern(options, ApprovalsSettings(), paths, front=front)
    options, policy, project = governed.options, governed.policy, governed.project
    output = output_filter(options, governed.keys)
    await take_steps(governed, settings, paths, front=front, net=net)
    async with AsyncExitStack() as stack:
        record = stack.enter_context(open_record(options, paths))
        closing = stack.enter_context(told_closing(record, front.note))
        room = await stack.enter_async_context(
            open_room(
                options,
                policy,
                paths,
                session=record.session,
                note=front.note,
                closing=closing,
            )
        )
        room.posture = replace(
            room.posture, facts={**room.posture.facts, **way_facts(policy, settings.egress)}
        )
        begin_record(record, policy, room, model=NO_MODEL, project=project)
        await stack.enter_async_context(signed_in_time(record.audit))
        tell_warnings(front, record)
        # The terminal is the person's own now: questions wait in the inbox.
        inbox = replace(options, approve=options.approve or "ask")
        way = WayParts(
            replace(governed, confirmer=confirmer_for(inbox, None, governed.desk)),
            record.session,
            room.box,
            record.audit,
            output,
            RunningCalls(lambda _: None),
            note=front.note,
            paths=paths,
            settings=settings.egress,
            providers=settings.providers,
            net=net or Net(),
            packages=await package_hosts(governed, room.ran, paths=paths, note=front.note),
            cost_before_usd=cost_before_usd(record.store, paths.audit_log(record.session)),
        )
        await stack.enter_async_context(open_way_out(way))
        access = await stack.enter_async_context(joinable(record, room, output, paths=paths))
        if project.commands:
            front.note("the project's own first commands are yours to run here")
        yield Shell(record.session, access, record, room, closing)
