"""Skills of one session: read before anything is made, offered once its box is up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from anyio import to_thread

from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.context.speech import Speech
from orchestrator.harness.ground import Ground
from orchestrator.harness.models.meter import Meter, Metered
from orchestrator.harness.models.models import Models
from orchestrator.harness.options import RunOptions
from orchestrator.harness.prompting import Prompts, open_speech
from orchestrator.harness.skills.choosing import Chooser
from orchestrator.harness.skills.desk import OfferedTools, SkillDesk
from orchestrator.harness.skills.finding import find_skills
from orchestrator.harness.skills.hiding import without_hidden
from orchestrator.harness.skills.shelf import shelf_of, shelve
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.prompts.frame import cleaned
from orchestrator.prompts.layer import Part, SkillParts
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.skills.active import Active
from orchestrator.skills.discover import Catalogue
from orchestrator.skills.listing import listing
from orchestrator.skills.router import AUTO, OFF
from orchestrator.tools.tool import Tool

MOST_NAMED = 5
"""Broken skills named in the line that a session begins with."""


@dataclass(frozen=True, slots=True)
class Brought:
    """Skills that come along; ``options`` are the session's, with where their files are."""

    options: RunOptions
    catalogue: Catalogue
    paths: Paths

    def under(self, policy: EffectivePolicy, *, note: Callable[[str], None]) -> Brought:
        """Return what of them a policy lets the model see, and tell what is left out.

        Raises SkillError where a skill that was asked for is hidden.
        """
        catalogue, left_out = without_hidden(self.catalogue, self.options, policy)
        for line in left_out:
            note(escape_terminal(f"skills: {line}"))
        _check_asked(self.options, catalogue)
        options = replace(self.options, skill_files=shelf_of(catalogue, self.paths))
        return Brought(options, catalogue, self.paths)

    async def shelve(self) -> None:
        """Put the files where the box gets them from; SkillError where they cannot be."""
        await to_thread.run_sync(shelve, self.catalogue, self.paths)


async def bring_skills(
    options: RunOptions, paths: Paths, *, note: Callable[[str], None]
) -> Brought:
    """Read the skills and tell what was left out.

    Raises SkillError for a skill that was asked for and cannot be used: nothing is made by then.
    """
    find = partial(find_skills, options.directory, paths, home=Path.home())
    catalogue = await to_thread.run_sync(find)
    for remark in (*_broken(catalogue), *catalogue.notes):
        note(escape_terminal(f"skills: {remark}"))
    _check_asked(options, catalogue)
    options = replace(options, skill_files=shelf_of(catalogue, paths))
    return Brought(options, catalogue, paths)


def _check_asked(options: RunOptions, catalogue: Catalogue) -> None:
    if options.skill is not None and options.skill not in {*OFF, AUTO}:
        catalogue.get(options.skill)


def _broken(catalogue: Catalogue) -> Iterator[str]:
    """Yield one line for all that cannot be used: who begins a session did not come to mend them."""
    if catalogue.faults:
        names = [Path(place).name for place in catalogue.faults]
        shown = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
        yield f"{len(names)} cannot be used ({shown}): run `glovebox skills check`"


def with_skills(options: RunOptions, paths: Paths, *, policy: EffectivePolicy) -> RunOptions:
    """Return the options of a box that is made ahead: with the files that a session would bring.

    Blocks; raises SkillError where they cannot be put up.
    """
    found = find_skills(options.directory, paths, home=Path.home())
    catalogue, _ = without_hidden(found, options, policy)
    return replace(options, skill_files=shelve(catalogue, paths))


def open_skills(
    ground: Ground,
    brought: Brought,
    tools: OfferedTools,
    *,
    models: Models,
    meter: Meter,
    prompts: Prompts,
    settings: Settings,
    note: Callable[[str], None],
) -> SkillDesk:
    """Return the session's skills; none is on yet."""
    local = ground.room.workspace.site.engine.info().local
    catalogue = brought.catalogue

    def speak(active: Active | None, offered: tuple[Tool, ...]) -> Speech:
        names = [tool.definition.name for tool in offered]
        # Where their files could not be mounted there is nothing that could be loaded.
        listed = listing(catalogue.skills.values(), tools=names) if local else ""
        speech = open_speech(
            prompts.under(ground.room.mode),
            [tool.definition for tool in offered],
            models,
            record=ground.record,
            observe=ground.observe,
            scrub=ground.output.scrub,
            skill=_parts(active, ground.output.scrub) if active else None,
            more=[Part("tools", "skills", ground.output.scrub(cleaned(listed)), "found")],
            shares=active.shares if active else None,
        )
        return replace(speech, skill=active.skill.name if active else None)

    route = settings.skills.route
    desk = SkillDesk(
        catalogue,
        tools,
        ground.governed.votes,
        models,
        ground.record.store,
        ground.record.audit,
        ground.observe,
        note,
        speak,
        routes=route != "off",
        chooser=Chooser(Metered(lambda: models.small, meter)) if route == "model" else None,
    )
    meter.skill = lambda: desk.name
    return desk


async def begin_skill(desk: SkillDesk, options: RunOptions, *, resumed: bool) -> None:
    """Switch on what was asked for, was on before, or is called for by what was said.

    Raises SkillError or PromptError where what was asked for cannot be used.
    """
    if options.skill in {*OFF, AUTO}:
        await desk.take_off(resumed=resumed)
        desk.routes = options.skill == AUTO
    elif options.skill is not None:
        await desk.use(options.skill)
    elif resumed:
        await desk.take_up(anew=bool(options.prompt))
    if options.prompt:
        await desk.route(options.prompt)


def _parts(active: Active, scrub: Callable[[str], str]) -> SkillParts:
    skill = active.skill
    texts = (scrub(cleaned(active.instructions)), scrub(cleaned(active.output)))
    return SkillParts(skill.name, texts[0], skill.source, texts[1])
