"""Opening a session: policy, workspace, box, record, model, in that order; closing in reverse.

This is the composition root: nothing below names a concrete driver, and every part gets what it
needs through its constructor. Whatever fails on the way up, all that was opened is closed again.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.context.session_context import SessionContext
from orchestrator.context.speech import Speech
from orchestrator.context.summarising import Render
from orchestrator.dispatch.dispatcher import Dispatcher
from orchestrator.dispatch.output import OutputFilter
from orchestrator.dispatch.result_room import RoomLeft
from orchestrator.egress.endpoint.day_ledger import DayLedger
from orchestrator.harness.box_spec import WORKDIR, run_limits
from orchestrator.harness.contexts import session_context
from orchestrator.harness.day_count import DayCount, day_ledger
from orchestrator.harness.egress.net import Net
from orchestrator.harness.egress.unanswered import StoppingRunner
from orchestrator.harness.first_commands import run_first
from orchestrator.harness.front import FrontDoor
from orchestrator.harness.governed import Governed, govern
from orchestrator.harness.ground import Ground, known_keys, open_ground, output_filter
from orchestrator.harness.history import KeepingRunner, TurnHistory
from orchestrator.harness.models.meter import BROKEN, Meter, together
from orchestrator.harness.models.models import Models, ModelSource, open_models
from orchestrator.harness.models.remembered import last_model
from orchestrator.harness.models.roles import Roles
from orchestrator.harness.models.unpriced import UnpricedModels
from orchestrator.harness.options import RunOptions
from orchestrator.harness.prompting import open_prompts
from orchestrator.harness.record import Record
from orchestrator.harness.room import Room
from orchestrator.harness.skills.desk import OfferedTools, SkillDesk
from orchestrator.harness.skills.opening import Brought, begin_skill, bring_skills, open_skills
from orchestrator.harness.skills.resuming import check_past
from orchestrator.harness.spending import Spending
from orchestrator.loop.agent_loop import AgentLoop
from orchestrator.loop.around import Around
from orchestrator.loop.queue import PersonQueue
from orchestrator.loop.seams import ToolRunner
from orchestrator.model.client import ModelInfo
from orchestrator.schema.event import Observer
from orchestrator.schema.ids import SessionId
from orchestrator.schema.message import Usage
from orchestrator.tools.registry import builtin_tools
from orchestrator.tools.tool import Tool, ToolContext


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
    prompt: str | None
    """What the person said with the command."""
    models: Models
    meter: Meter
    """Of model calls that are no turns."""
    speech: Callable[[], Speech]
    """What the next request carries besides the conversation."""
    queue: PersonQueue
    """What the person says while the model works."""
    context: SessionContext
    render: Render
    """Gives the texts of summaries."""
    ground: Ground
    skills: SkillDesk


@asynccontextmanager
async def open_session(
    options: RunOptions,
    settings: Settings,
    paths: Paths,
    *,
    front: FrontDoor,
    net: Net | None = None,
) -> AsyncIterator[Session]:
    """Bring everything up; on leaving, end the box, sign the audit's end and close the files.

    ``net`` is what is let out to; by default the host's own network.
    """
    brought, governed = await _governed(options, settings, paths, front=front)
    tools = OfferedTools(
        {tool.definition.name: tool for tool in builtin_tools(governed.options.tools)}
    )
    check_past(brought.options, brought.catalogue, paths, tools=tuple(tools.all))
    await brought.shelve()
    worker = _Worker(governed, settings, front.note, day_ledger(paths))
    prompts = await open_prompts(governed, settings, paths, note=front.note)
    async with open_ground(
        governed, settings, paths, front=front, worker=worker.open, net=net
    ) as ground:
        models = worker.models
        _bind(models, ground)
        spending, meter = _purse(ground, worker)
        skills = open_skills(
            ground,
            brought,
            tools,
            models=models,
            meter=meter,
            prompts=prompts,
            settings=settings,
            note=front.note,
        )
        render = prompts.library.render
        context = session_context(ground, models, meter, render=render, settings=settings.context)
        dispatcher = _dispatcher(ground, tools, room=lambda: context.room(skills.speech_at_work()))
        around = _around(ground, context, spending=spending, skills=skills)
        await _run_first(ground, dispatcher, tools, note=front.note)
        await begin_skill(skills, brought.options, resumed=ground.record.resumed)
        loop = _loop(ground, dispatcher, models, skills=skills, around=around)
        spending.loop = loop
        yield Session(
            id=ground.id,
            loop=loop,
            record=ground.record,
            room=ground.room,
            history=ground.history,
            observe=ground.observe,
            output=ground.output,
            prompt=governed.options.prompt,
            models=models,
            meter=meter,
            speech=skills.speech,
            queue=around.queue,
            context=context,
            render=render,
            ground=ground,
            skills=skills,
        )


async def _governed(
    options: RunOptions, settings: Settings, paths: Paths, *, front: FrontDoor
) -> tuple[Brought, Governed]:
    """Return what the session runs under, and its skills as far as that shows them."""
    found = await bring_skills(options, paths, note=front.note)
    governed = await govern(found.options, settings.approvals, paths, front=front)
    brought = found.under(governed.policy, note=front.note)
    shelf = brought.options.skill_files
    return brought, replace(governed, options=replace(governed.options, skill_files=shelf))


@dataclass(slots=True)
class _Worker:
    """Opens the session's models before there is a box."""

    governed: Governed
    settings: Settings
    note: Callable[[str], None]
    ledger: DayLedger
    day: DayCount = field(init=False)
    _models: Models | None = None

    def __post_init__(self) -> None:
        limit = self.governed.policy.limits.cost_usd_per_day
        self.day = DayCount(self.ledger, limit, self.note)

    @property
    def models(self) -> Models:
        if self._models is None:
            raise RuntimeError("the models are asked for before they are open")
        return self._models

    @asynccontextmanager
    async def open(self, observe: Observer) -> AsyncIterator[str]:
        options, keys = self.governed.options, self.governed.keys
        source = ModelSource(
            self.settings.providers,
            os.environ,
            keys.get,
            self.note,
            lambda text: output_filter(options, keys).scrub(text),
            self.day.counted,
        )
        self.day.check()
        roles = Roles.of(options)
        async with open_models(roles, self.governed.policy, source, observe=observe) as models:
            self._models = models
            yield models.info.id


def _bind(models: Models, ground: Ground) -> None:
    """Have keys of later models kept out of texts too, and changes kept in the session."""
    keys, store = ground.governed.keys, ground.record.store

    told = known_keys(keys)

    def learn() -> None:
        fresh = known_keys(keys, told)
        told.update(fresh)
        ground.output.learn(fresh)

    def note(body: Mapping[str, Any]) -> None:
        store.append("model_change", body)

    begun = models.change("start")
    if last_model(store.tree.path()) != (begun["name"], begun["thinking"]):
        note(begun)
    models.learn, models.note = learn, note


def _dispatcher(ground: Ground, tools: Mapping[str, Tool], *, room: RoomLeft) -> Dispatcher:
    return Dispatcher(
        tools,
        ground.room.box,
        ground.judge,
        audit=ground.record.audit,
        context=ToolContext(WORKDIR, ground.governed.policy.limits.command_time),
        output=ground.output,
        observe=ground.observe,
        execs=ground.execs,
        room=room,
    )


async def _run_first(
    ground: Ground,
    dispatcher: Dispatcher,
    tools: Mapping[str, Tool],
    *,
    note: Callable[[str], None],
) -> None:
    await run_first(
        dispatcher,
        () if ground.record.resumed else ground.governed.project.commands,
        offered="bash" in tools,
        timeout_s=ground.governed.policy.limits.command_time,
        note=note,
    )


def _loop(
    ground: Ground,
    dispatcher: Dispatcher,
    models: Models,
    *,
    skills: SkillDesk,
    around: Around[PersonQueue],
) -> AgentLoop:
    governed = ground.governed
    return AgentLoop(
        models,
        _runner(ground, dispatcher),
        ground.record.transcript,
        audit=ground.record.audit,
        speech=skills.speech,
        limits=run_limits(governed.policy.limits, governed.options.limits),
        output=ground.output,
        observe=ground.observe,
        around=around,
    )


def _purse(ground: Ground, worker: _Worker) -> tuple[Spending, Meter]:
    """Return what the session may spend, and what counts its calls beside the conversation."""
    governed, record = ground.governed, ground.record
    limits = run_limits(governed.policy.limits, governed.options.limits)
    models, kept = worker.models, worker.models.note
    unpriced = UnpricedModels(limits, ground.observe)

    def note(body: Mapping[str, Any]) -> None:
        kept(body)
        unpriced.tell(models.in_reach)

    models.note = note
    unpriced.tell(models.in_reach)
    spending = Spending(limits, ground.cost_before_usd, worker.day)
    meter = Meter(record.audit, record.store, shut=spending.is_used_up)
    spending.beside = lambda: together(ground.use.beside(), meter.beside())
    ground.use.of_session = spending.used

    async def on_broken(info: ModelInfo, usage: Usage) -> None:
        meter.note(info, BROKEN, usage)
        await worker.day.charge(usage, info)

    models.on_broken = on_broken
    return spending, meter


def _around(
    ground: Ground,
    context: SessionContext,
    *,
    spending: Spending,
    skills: SkillDesk,
) -> Around[PersonQueue]:
    return Around(
        context,
        PersonQueue(ground.observe, ground.output.scrub),
        ground.governed.clock,
        beside=spending.beside,
        skill_tokens=skills.max_tokens,
        today=spending.day.today,
        cost_before_usd=spending.cost_before_usd,
    )


def _runner(ground: Ground, dispatcher: Dispatcher) -> ToolRunner:
    keeping = KeepingRunner(dispatcher, ground.history)
    stops = ground.governed.options.on_ask == "stop"
    return StoppingRunner(keeping, ground.unanswered) if stops else keeping
