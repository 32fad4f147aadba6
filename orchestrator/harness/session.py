"""Opening a session: policy, workspace, box, record, model, in that order; closing in reverse.

This is the composition root: nothing below names a concrete driver, and every part gets what it
needs through its constructor. Whatever fails on the way up, all that was opened is closed again.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import anyio
from anyio import to_thread

from orchestrator.audit.log import AuditLog
from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.credentials.store import KeyStore
from orchestrator.dispatch.dispatcher import Dispatcher
from orchestrator.dispatch.output import OutputFilter
from orchestrator.errors import AuditError
from orchestrator.harness.asking import record_late
from orchestrator.harness.box_spec import WORKDIR, run_limits
from orchestrator.harness.closing import Closing
from orchestrator.harness.first_commands import run_first
from orchestrator.harness.front import FrontDoor
from orchestrator.harness.governed import Governed, govern
from orchestrator.harness.history import KeepingRunner, TurnHistory, open_history
from orchestrator.harness.joining import joinable, previewed
from orchestrator.harness.luggage import check_environment
from orchestrator.harness.options import RunOptions
from orchestrator.harness.pool.beginning import begin_pool
from orchestrator.harness.pool.claim import Claimant
from orchestrator.harness.pool.claimed import Claim
from orchestrator.harness.project_image import ProjectImage
from orchestrator.harness.record import Record, open_record
from orchestrator.harness.rewinding import mend_rewind
from orchestrator.harness.room import Note, Room, open_room
from orchestrator.loop.agent_loop import AgentLoop, Speech
from orchestrator.model.client import ModelClient
from orchestrator.model.factory import open_model
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.policy.provenance import layer_facts
from orchestrator.prompts.build import PromptFacts, system_prompt
from orchestrator.redaction.redactor import Redactor
from orchestrator.schema.event import ErrorRaised, Observer, Retry, SessionStart
from orchestrator.schema.ids import SessionId
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.tools.registry import builtin_tools
from orchestrator.tools.tool import Tool, ToolContext
from orchestrator.workspace.rewind import FileHistory

SIGN_EVERY_S = 1.0
"""How often a due signature is looked for; the log itself says when one is due."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session that is up."""

    id: SessionId
    loop: AgentLoop
    record: Record
    room: Room
    history: TurnHistory
    observe: Observer
    output: OutputFilter


@asynccontextmanager
async def open_session(
    options: RunOptions, settings: Settings, paths: Paths, *, front: FrontDoor
) -> AsyncIterator[Session]:
    """Bring everything up; on leaving, end the box, sign the audit's end and close the files."""
    governed = await govern(options, settings.approvals, paths, front=front)
    options, policy = governed.options, governed.policy
    keys, project = governed.keys, governed.project
    tools = {tool.definition.name: tool for tool in builtin_tools(options.tools)}
    async with AsyncExitStack() as stack:
        claimant = Claimant(options, policy, paths=paths, environ=os.environ, note=front.note)
        claim = await stack.enter_async_context(claimant.claimed())
        record = stack.enter_context(open_record(options, paths, session=claim.session))
        observe = front.observer(record.session)
        await _mend(record, paths, front)

        def on_retry(attempt: int, delay_s: float, reason: str) -> None:
            observe(Retry(attempt, delay_s * 1000, output.scrub(reason)))

        model = await stack.enter_async_context(
            open_model(
                options.model,
                providers=settings.providers,
                environ=os.environ,
                keys=keys.get,
                on_retry=on_retry,
                warn=front.note,
            )
        )
        # After the model: by now the keys it asked for are known.
        output = output_filter(options, keys)
        room = await stack.enter_async_context(
            _open_room(options, policy, paths, record=record, note=front.note, claim=claim)
        )
        begin_pool(options, settings.pool, paths, mode=room.mode, note=front.note)
        begin_record(record, policy, room, model=model.info.id, project=project)
        stack.callback(record_late, governed.desk, record.session, record.audit)
        await stack.enter_async_context(signed_in_time(record.audit))
        tell_warnings(front, record, options.remarks)
        files = FileHistory(room.workspace)
        history = await stack.enter_async_context(open_history(files, observe, record.moment))
        parts = _Parts(governed, tools, model, record, room, history, output, observe)
        dispatcher = _dispatcher(parts)
        loop = _loop(parts, dispatcher)
        await stack.enter_async_context(_let_in(parts, paths, front))
        observe(_start_event(parts, project))
        _warn_of_cost(policy, model, observe)
        await _run_first(parts, dispatcher, project, note=front.note)
        record.open_turn(options.prompt, output.scrub_message)
        yield Session(record.session, loop, record, room, history, observe, output)


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


@dataclass(frozen=True, slots=True)
class _Parts:
    governed: Governed
    tools: Mapping[str, Tool]
    model: ModelClient
    record: Record
    room: Room
    history: TurnHistory
    output: OutputFilter
    observe: Observer

    @property
    def options(self) -> RunOptions:
        return self.governed.options

    @property
    def policy(self) -> EffectivePolicy:
        return self.governed.policy


def _dispatcher(parts: _Parts) -> Dispatcher:
    governed, audit = parts.governed, parts.record.audit
    output, observe = parts.output, parts.observe
    return Dispatcher(
        parts.tools,
        parts.room.box,
        governed.judge(parts.record.session, audit, output, observe=observe),
        audit=audit,
        context=ToolContext(WORKDIR, parts.policy.limits.command_time),
        output=output,
        observe=observe,
        execs=governed.execs(audit, output, observe=observe),
    )


@asynccontextmanager
async def _let_in(parts: _Parts, paths: Paths, front: FrontDoor) -> AsyncIterator[None]:
    """Let the person into the box, by the control socket and by the previews asked for."""
    async with (
        joinable(parts.record, parts.room, parts.output, paths=paths) as access,
        previewed(parts.options.previews, access, front),
    ):
        yield


async def _run_first(
    parts: _Parts, dispatcher: Dispatcher, project: ProjectImage, *, note: Callable[[str], None]
) -> None:
    await run_first(
        dispatcher,
        () if parts.record.resumed else project.commands,
        offered="bash" in parts.tools,
        timeout_s=parts.policy.limits.command_time,
        note=note,
    )


def _loop(parts: _Parts, dispatcher: Dispatcher) -> AgentLoop:
    definitions = tuple(tool.definition for tool in parts.tools.values())
    today = datetime.now(UTC).date().isoformat()
    return AgentLoop(
        parts.model,
        KeepingRunner(dispatcher, parts.history),
        parts.record.transcript,
        audit=parts.record.audit,
        speech=Speech(system_prompt(PromptFacts(WORKDIR, today, tuple(parts.tools))), definitions),
        limits=run_limits(parts.policy.limits, parts.options.limits),
        output=parts.output,
        observe=parts.observe,
    )


def output_filter(options: RunOptions, keys: KeyStore) -> OutputFilter:
    """Return the session's redaction, which knows the keys that were asked for so far."""
    redactor = Redactor(_known(keys.known_values()))
    check_environment(options.environment, redactor)
    return OutputFilter(redactor)


def _known(values: frozenset[str]) -> dict[str, str]:
    return {f"key-{number}": value for number, value in enumerate(sorted(values), 1)}


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


def _start_event(parts: _Parts, project: ProjectImage) -> SessionStart:
    policy, room = parts.policy, parts.room
    return SessionStart(
        model=parts.model.info.id,
        policy={"name": policy.name, "digest": policy.digest, "layers": layer_facts(policy)},
        image=room.image_digest,
        posture={
            "controls": dict(room.posture.controls),
            "facts": dict(room.posture.facts),
            "lacking": dict(room.posture.found),
        },
        workspace={"mode": room.mode, "path": str(room.directory)}
        | _luggage(parts.options, room, project),
        resumed=parts.record.resumed,
    )


def _warn_of_cost(policy: EffectivePolicy, model: ModelClient, observe: Observer) -> None:
    """Say so where a cost limit cannot bite: the model's prices are not known."""
    if policy.limits.cost_usd is not None and model.info.input_price is None:
        observe(
            ErrorRaised(
                where="limits.cost_usd",
                message=f"the prices of {model.info.id} are not known, so its cost is not limited",
                hint="limits.tokens and limits.steps still hold",
            )
        )
