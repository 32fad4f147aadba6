"""The skill of a session: chosen, switched on and off; whoever asks next gets what holds then.

What a skill changes is kept as one value beside the session's own tools, prompt and policy, so that
switching it off leaves nothing behind. Nothing changes where a switch fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from orchestrator.context.speech import Speech
from orchestrator.dispatch.records import AuditSink
from orchestrator.errors import ConfigError, CredentialError, ModelError, PromptError, SkillError
from orchestrator.harness.models.models import NO_WISH, Models, Wish
from orchestrator.harness.skills.choosing import Chooser
from orchestrator.harness.skills.past import By, past_skill
from orchestrator.harness.skills.resuming import activated, as_then
from orchestrator.harness.skills.voting import SkillVotes, skill_layers
from orchestrator.schema.event import Observer
from orchestrator.schema.head_event import SkillChange
from orchestrator.schema.ids import EntryId
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.store import SessionStore
from orchestrator.skills.active import Active
from orchestrator.skills.discover import Catalogue
from orchestrator.skills.router import Match, by_triggers
from orchestrator.tools.tool import Tool

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
    by: By = "user"
    """Who chose the skill that is on."""
    _speech: Speech | None = field(default=None, init=False)
    _spoken: tuple[Any, ...] = field(default=(), init=False)

    @property
    def name(self) -> str | None:
        """The skill that is on."""
        return self.active.skill.name if self.active else None

    def speech(self) -> Speech:
        """Return what the next request carries; put together anew where model or skill changed."""
        # Between two turns: no call stands without its result, and no answer without its price.
        self.models.turn()
        return self.speech_at_work()

    def speech_at_work(self) -> Speech:
        """Return the same amid a turn: what waits for its end goes on waiting."""
        now = (self.name, self.models.info.id, self.models.thinking)
        if self._speech is None or self._spoken != now:
            spoken = self.speak(self.active, tuple(self.tools.values()))
            self._speech, self._spoken = replace(spoken, skill=self.name), now
        return self._speech

    def max_tokens(self) -> int | None:
        """Return how many tokens one run may use under the skill that is on; None for no such limit."""
        return self.active.max_tokens if self.active else None

    async def use(self, name: str | None, by: By = "user", confidence: float = 1.0) -> None:
        """Switch a skill on in place of the one before, or off.

        Raises SkillError or PromptError where it cannot be used; nothing is changed then.
        """
        if name is None and self.active is None:
            return
        await self._put(self._activated(name) if name is not None else None)
        self._keep(by, confidence)

    async def route(self, text: str) -> Match | None:
        """Switch on the skill that a text calls for; None where it calls for none, or it is on.

        A choice never takes the place of a skill that a person switched on; it does of an earlier
        choice, which was for what was said then.
        """
        await self.settle()
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

    async def settle(self) -> None:
        """Switch off what no person switched on: it was for one thing that was said."""
        if self.active is not None and self.by != "user":
            await self._put(None)
            self._keep(self.by, 1.0)

    async def take_up(self, *, anew: bool) -> None:
        """Switch on what was on where the session stopped; a choice only where nothing new is said.

        Raises SkillError where that skill is gone or has other rules now: its rules held, and are
        not dropped in silence. ``anew`` says that the person says something new.
        """
        past = past_skill(self.store.tree.path())
        if past is None:
            return
        if past.by != "user" and anew:
            # It was chosen for what was said then; what is said now may call for another.
            self._keep(past.by, 1.0)
            return
        await self._put(as_then(past, self._activated))
        self.by = past.by
        if past.digest != self._digest:
            self._keep(past.by, past.confidence)
            self.note(escape_terminal(f"the text of skill {past.skill} is another now than then"))
        else:
            self.observe(SkillChange(past.skill, past.by, past.confidence))

    def there(self, leaf: EntryId | None) -> Active | None:
        """Return the skill that a person had on at a place of the conversation.

        Raises SkillError where it is gone or has other rules now.
        """
        past = past_skill(self.store.tree.path(leaf)) if leaf else None
        return as_then(past, self._activated) if past and past.by == "user" else None

    async def follow(self, active: Active | None, move: Callable[[], None]) -> None:
        """Have on what ``there`` gave for a place of the conversation, and move there.

        Raises PromptError where it cannot be used; nothing has moved then.
        """
        wanted = active.skill.name if active else None
        changes = wanted != self.name
        if changes:
            await self._put(active)
        move()
        self.by = "user"
        # Which prompt holds is told on the branch that it holds on.
        self._speech = None
        past = past_skill(self.store.tree.path())
        if changes or wanted != (past.skill if past else None):
            self._keep("user", 1.0)

    async def take_off(self, *, resumed: bool) -> None:
        """Have no skill on and choose none; in a session that had one, that is kept."""
        self.routes = False
        if self.active is not None:
            await self.use(None)
        elif resumed and past_skill(self.store.tree.path()) is not None:
            self._keep("user", 1.0)

    @property
    def _digest(self) -> str | None:
        return self.active.skill.digest if self.active else None

    def _keep(self, by: By, confidence: float) -> None:
        body = {"skill": self.name, "digest": self._digest, "by": by, "confidence": confidence}
        body |= {"rules": self.active.rules if self.active else None}
        self.by = by
        self.audit.append("skill_change", body)
        self.store.append("skill_change", body)
        self.observe(SkillChange(self.name, by, confidence))

    def _activated(self, name: str) -> Active:
        return activated(name, self.catalogue, tools=tuple(self.tools.all))

    async def _put(self, active: Active | None) -> None:
        """Put a skill in force, all of it or nothing, also where this is broken off."""
        layers = skill_layers(active) if active else ()
        wish = await self._wish_of(active)
        before, wished = self.active, self.models.wish
        self.active = self.tools.active = active
        self.models.grant(wish)
        try:
            self._speech = None
            self.speech()
        except BaseException:
            self.active = self.tools.active = before
            self.models.grant(wished)
            raise
        self.votes.layers = layers

    async def _wish_of(self, active: Active | None) -> Wish:
        if active is None:
            return NO_WISH
        roles = self.models.roles
        name = (roles.small or roles.main) if active.model == SMALL else active.model
        try:
            return await self.models.wished(name, active.thinking)
        except (ConfigError, CredentialError, ModelError) as error:
            wish = f"skill {active.skill.name} would like the model {name}: {error.message}"
            self.note(escape_terminal(wish))
            return Wish(thinking=active.thinking)
