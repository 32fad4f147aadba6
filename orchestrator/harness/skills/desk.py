"""The skill of a session: chosen, switched on and off; whoever asks next gets what holds then.

What a skill changes is kept as one value beside the session's own tools, prompt and policy, so that
switching it off leaves nothing behind. Nothing changes where a switch fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from orchestrator.context.speech import Speech
from orchestrator.dispatch.records import AuditSink
from orchestrator.errors import ConfigError, CredentialError, ModelError, PromptError, SkillError
from orchestrator.harness.models.models import Models
from orchestrator.harness.options import LimitOptions
from orchestrator.harness.skills.choosing import Chooser
from orchestrator.harness.skills.voting import SkillVotes, skill_layers
from orchestrator.schema.event import Observer
from orchestrator.schema.head_event import SkillChange
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.schema.thinking import ThinkingLevel
from orchestrator.sessions.store import SessionStore
from orchestrator.skills.active import Active, activate
from orchestrator.skills.discover import Catalogue
from orchestrator.skills.router import Match, by_triggers
from orchestrator.tools.registry import BUILTIN_NAMES
from orchestrator.tools.tool import Tool

By = Literal["user", "trigger", "model"]
Speak = Callable[[Active | None, tuple[Tool, ...]], Speech]
"""Puts together what requests carry, for a skill or none, and these tools; raises PromptError."""
SMALL = "small"
"""A skill's wish for the model that titles and summaries are made with."""


class OfferedTools(Mapping[str, Tool]):
    """The session's tools as far as the skill that is on leaves them."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        """Offer all of them."""
        self.all = tools
        self.active: Active | None = None

    def __getitem__(self, name: str) -> Tool:
        """Return a tool that is on offer."""
        if self.active is not None and name not in self.active.tools:
            raise KeyError(name)
        return self.all[name]

    def __iter__(self) -> Iterator[str]:
        """Return the names on offer, in the session's order."""
        return (name for name in self.all if self.active is None or name in self.active.tools)

    def __len__(self) -> int:
        """Return how many are on offer."""
        return sum(1 for _ in self)


@dataclass(frozen=True, slots=True)
class _Model:
    """What the models were before a skill's wish, and what it made of them."""

    main: str
    thinking: ThinkingLevel | None
    wished: tuple[str, ThinkingLevel | None]


@dataclass(slots=True)
class SkillDesk:
    """One session's."""

    catalogue: Catalogue
    tools: OfferedTools
    votes: SkillVotes
    models: Models
    store: SessionStore
    audit: AuditSink
    observe: Observer
    note: Callable[[str], None]
    speak: Speak
    chooser: Chooser | None = None
    """Asks a model for a choice; None leaves it to triggers."""
    routes: bool = True
    """Whether a skill may be switched on that nobody named."""
    active: Active | None = None
    _speech: Speech | None = field(default=None, init=False)
    _before: _Model | None = field(default=None, init=False)
    _spoken: tuple[Any, ...] = field(default=(), init=False)

    @property
    def name(self) -> str | None:
        """The skill that is on."""
        return self.active.skill.name if self.active else None

    def speech(self) -> Speech:
        """Return what the next request carries; put together anew where model or skill changed."""
        now = (self.name, self.models.info.id, self.models.thinking)
        if self._speech is None or self._spoken != now:
            spoken = self.speak(self.active, tuple(self.tools.values()))
            self._speech, self._spoken = replace(spoken, skill=self.name), now
        return self._speech

    def limited(self, limits: LimitOptions) -> LimitOptions:
        """Return the limits of a run with the skill's own budget, where that is less."""
        most = self.active.max_tokens if self.active else None
        if most is None:
            return limits
        return replace(limits, tokens=min(most, limits.tokens or most))

    async def use(self, name: str | None, by: By = "user", confidence: float = 1.0) -> None:
        """Switch a skill on in place of the one before, or off.

        Raises SkillError or PromptError where it cannot be used; nothing is changed then.
        """
        if name is None and self.active is None:
            return
        active = self._activated(name) if name is not None else None
        await self._put(active)
        self._keep(name, active.skill.digest if active else None, by, confidence)

    async def route(self, text: str) -> Match | None:
        """Switch on the skill that a text calls for; None where it calls for none, or it is on.

        A choice never takes the place of a skill that a person switched on.
        """
        if self.active is not None or not self.routes:
            return None
        offered = list(self.catalogue.skills.values())
        match = by_triggers(text, offered)
        if match is None and self.chooser is not None:
            try:
                match = await self.chooser.choose(text, offered)
            except ModelError as error:
                self.note(escape_terminal(f"no skill was chosen: {error.message}"))
        if match is None:
            return None
        try:
            await self.use(match.skill, match.by, match.confidence)
        except (SkillError, PromptError) as error:
            # Nobody asked for it by name: the work goes on without.
            self.note(escape_terminal(f"skill {match.skill} is not used: {error.message}"))
            return None
        return match

    async def take_up(self) -> None:
        """Switch on what a person had on where the session stopped; a choice was for its run alone.

        Raises SkillError where that skill is gone: its rules held, and are not dropped in silence.
        """
        last = self._last()
        if last is None:
            return
        name = str(last["skill"])
        if last.get("by") != "user":
            # It was chosen for what was said then; what is said now may call for another.
            self._keep(None, None, "user", 1.0)
            return
        try:
            active = self._activated(name)
        except SkillError as error:
            raise SkillError(
                f"the session had the skill {name} on: {error.message}",
                hint="bring it back, or leave it off knowingly: --skill off",
            ) from error
        if last.get("digest") == active.skill.digest:
            await self._put(active)
            self.observe(SkillChange(name, "user"))
        else:
            self.note(escape_terminal(f"skill {name} is another now than when the session stopped"))
            await self.use(name)

    async def take_off(self, *, resumed: bool) -> None:
        """Have no skill on and choose none; in a session that had one, that is kept."""
        self.routes = False
        if self.active is not None:
            await self.use(None)
        elif resumed and self._last() is not None:
            self._keep(None, None, "user", 1.0)

    def _last(self) -> Mapping[str, Any] | None:
        """Return the entry of the skill that was on where the session stands."""
        path = self.store.tree.path()
        last = next((entry.body for entry in reversed(path) if entry.type == "skill_change"), None)
        return last if last and isinstance(last.get("skill"), str) else None

    def _keep(self, name: str | None, digest: str | None, by: By, confidence: float) -> None:
        body = {"skill": name, "digest": digest, "by": by, "confidence": confidence}
        self.audit.append("skill_change", body)
        self.store.append("skill_change", body)
        self.observe(SkillChange(name, by, confidence))

    def _activated(self, name: str) -> Active:
        return activate(self.catalogue.get(name), tools=tuple(self.tools.all), known=BUILTIN_NAMES)

    async def _put(self, active: Active | None) -> None:
        """Put a skill in force, all of it or nothing."""
        layers = skill_layers(active) if active else ()
        before = self.active
        await self._restore_model()
        await self._wish(active)
        self.active = self.tools.active = active
        try:
            self._speech = None
            self.speech()
        except BaseException:
            self.active = self.tools.active = before
            await self._restore_model()
            await self._wish(before)
            raise
        self.votes.layers = layers

    async def _wish(self, active: Active | None) -> None:
        if active is None or not (active.model or active.thinking):
            return
        roles = self.models.roles
        name = (roles.small or roles.main) if active.model == SMALL else active.model
        if name and name != roles.main:
            try:
                await self.models.switch(name, reason="skill")
            except (ConfigError, CredentialError, ModelError) as error:
                wish = f"skill {active.skill.name} would like the model {name}: {error.message}"
                self.note(escape_terminal(wish))
        if active.thinking:
            self.models.think(active.thinking, reason="skill")
        now = self.models.roles
        self._before = _Model(roles.main, roles.thinking, (now.main, now.thinking))

    async def _restore_model(self) -> None:
        """Ask the model of before again, unless a person chose another since."""
        before, self._before = self._before, None
        if before is None:
            return
        now = self.models.roles
        if now.main == before.wished[0] and now.main != before.main:
            await self.models.switch(before.main, reason="skill")
        if now.thinking == before.wished[1] and now.thinking != before.thinking:
            self.models.think(before.thinking, reason="skill")
