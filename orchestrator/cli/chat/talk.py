"""The course of a chat: what is said, what is a command, what needs the session at rest.

A command that needs the session at rest leaves it, is carried out, and the same session is opened
again; everything else happens in one box.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from orchestrator.cli.chat.changes import ChangeCount
from orchestrator.cli.chat.pictures import pictures_in
from orchestrator.cli.chat.recalling import exchanges, recalled
from orchestrator.cli.chat.surface import Said, Surface
from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.errors import GloveboxError
from orchestrator.harness.conversation import FATAL, Conversation, open_conversation
from orchestrator.harness.egress.net import Net
from orchestrator.harness.options import RunOptions
from orchestrator.harness.winding import RunEnd
from orchestrator.schema.ids import SessionId
from orchestrator.schema.message import Image, Text
from orchestrator.schema.terminal_text import escape_terminal

AtRest = Callable[[Paths, SessionId], Awaitable[None]]
"""What is done with the session at rest."""


@dataclass(frozen=True, slots=True)
class Leave:
    """The person wants to go; ``then`` is done before the session is opened again, if at all."""

    then: AtRest | None = None


@dataclass(frozen=True, slots=True)
class Saying:
    """What the model is told."""

    text: str
    pictures: tuple[Image, ...] = ()


@dataclass(slots=True)
class Talk:
    """One opening of the session; what commands work with."""

    conversation: Conversation
    surface: Surface
    paths: Paths
    group: TaskGroup
    directory: Path
    """The directory on the host that it works on."""
    failure: GloveboxError | None = None
    """What the session cannot go on after."""
    _settled: anyio.Event = field(default_factory=anyio.Event)
    _halted: bool = False
    _changes: ChangeCount = field(init=False)

    def __post_init__(self) -> None:
        """Nothing has been said yet."""
        self._settled.set()
        self._changes = ChangeCount(self.paths, self.session)

    @property
    def session(self) -> SessionId:
        """Its name."""
        return self.conversation.session.id

    @property
    def is_busy(self) -> bool:
        """Say whether the model is at work, or about to be; a summary is work too."""
        return not self._settled.is_set() or self.conversation.is_busy

    async def say(self, text: str, *, later: bool = False) -> None:
        """Have the model told something; pictures it names come along.

        While it works it is told as soon as the running calls are over, or, ``later``, when it
        would stop. Raises UsageError for a picture that cannot be sent.
        """
        saying = Saying(text, await pictures_in(text, self.directory))
        if saying.pictures and not self.conversation.session.models.info.images:
            self.surface.note("this model sees no pictures; they are kept for one that does")
        if self.is_busy:
            tell = self.conversation.follow_up if later else self.conversation.steer
            tell(saying.text, saying.pictures)
            return
        self._settled, self._halted = anyio.Event(), False
        self.group.start_soon(self._say, saying, self._settled)

    def stop(self) -> None:
        """Stop the model; what waited to be said is given back."""
        waiting = self.conversation.session.queue.clear()
        if waiting:
            self.surface.draft("\n".join(waiting))
        self._halted = True
        self.conversation.abort()

    def fail(self, error: GloveboxError) -> None:
        """End it: the session cannot go on."""
        self.failure = error
        self.group.cancel_scope.cancel()

    async def settled(self) -> None:
        """Return when the model is not at work."""
        await self._settled.wait()

    def facts(self) -> dict[str, str]:
        """Return what a status line shows, by name; raw texts."""
        models = self.conversation.session.models
        facts = {"model": models.info.id}
        if models.thinking:
            facts["thinking"] = f"thinking {models.thinking}"
        if skill := self.conversation.session.skills.name:
            facts["skill"] = f"skill {skill}"
        facts["window"] = str(models.info.context_window)
        total = self.conversation.total
        if total.cost_usd:
            about = "about " if total.usage.estimated else ""
            facts["cost"] = f"{about}${total.cost_usd:.3f}"
        if self._changes.words:
            facts["files"] = self._changes.words
        return facts

    def recount(self, then: Callable[[], None]) -> None:
        """Have the changed files counted as ``/diff`` would; ``then`` is called after it.

        A session in which nothing was said has none.
        """
        tree = self.conversation.session.record.store.tree
        if any(entry.type == "message" for entry in tree.entries):
            self._changes.begin(self.group, then)

    def scrub(self, text: str) -> str:
        """Return text without the session's secrets."""
        return self.conversation.session.output.scrub(text)

    async def _say(self, saying: Saying, done: anyio.Event) -> None:
        try:
            while not self._halted:
                reply = await self.conversation.say(saying.text, saying.pictures)
                self.surface.settle()
                if reply.aborted:
                    self.surface.note("stopped; what ran was ended")
                left = self._left()
                if left is None:
                    return
                saying = left
            # Stopped before it was said.
            self.surface.draft(saying.text)
        except FATAL as error:
            self.fail(error)
        finally:
            done.set()
            self.surface.attend(self)

    def _left(self) -> Saying | None:
        """Take what was said too late to be told in the run that has just ended."""
        queue = self.conversation.session.queue
        messages = [*queue.steering()]
        while more := queue.follow_ups():
            messages += more
        parts = [part for message in messages for part in message.content]
        texts = [part.text for part in parts if isinstance(part, Text)]
        pictures = tuple(part for part in parts if isinstance(part, Image))
        return Saying("\n".join(texts), pictures) if texts else None


RunCommand = Callable[[Talk, str], Awaitable[Leave | None]]
"""Carries out a line that begins with ``/``; UsageError for one that is none."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat from its first opening to its last end."""

    options: RunOptions
    settings: Settings
    paths: Paths
    surface: Surface
    command: RunCommand
    waits: bool = False
    """Read the next line only when the model is not at work: a script has all its lines ready."""
    net: Net | None = None

    async def run(self) -> RunEnd:
        """Talk until the person leaves; raises GloveboxError where no session comes up."""
        async with self.surface.opened():
            return await self._run()

    async def _run(self) -> RunEnd:
        options, first = replace(self.options, prompt=None), self.options.prompt
        again = False
        while True:
            # A signal leaves the conversation without an answer.
            leave: Leave | None = None
            async with open_conversation(
                options, self.settings, self.paths, front=self.surface, net=self.net
            ) as conversation:
                if not again:
                    self._recall(conversation)
                leave = await self._talk(conversation, first)
            end, first, again = conversation.end, None, True
            # A person may have said otherwise since: what is on now is in the session itself.
            skills = conversation.session.skills
            skill = None if skills.routes or skills.name else "off"
            if end is None:
                raise RuntimeError("a conversation was left and has no end")
            if leave is None or leave.then is None or end.exit_code:
                return end
            await self._at_rest(leave.then, end.session)
            going_on = replace(options, resume=end.session, resume_latest=False, fork=False)
            # What the flags allow is for the whole chat, not for each opening.
            spent = conversation.session.loop.progress.spent()
            limits = options.limits.after(spent.asked_tokens, spent.asked_cost_usd)
            options = replace(going_on, skill=skill, limits=limits)

    def _recall(self, conversation: Conversation) -> None:
        """Show what was said last where a session is taken up, so that one knows where one is."""
        path = conversation.session.record.store.tree.path()
        self.surface.recall(recalled(exchanges(path)))

    async def _at_rest(self, then: AtRest, session: SessionId) -> None:
        try:
            await then(self.paths, session)
        except GloveboxError as error:
            self._tell(error)

    async def _talk(self, conversation: Conversation, first: str | None) -> Leave | None:
        leave: Leave | None = None
        async with anyio.create_task_group() as group:
            talk = Talk(conversation, self.surface, self.paths, group, self.options.directory)
            self.surface.attend(talk)
            leave = await self._heed(talk, Said(first)) if first else None
            leave = leave or await self._listen(talk)
            talk.stop()
            await talk.settled()
        self.surface.attend(None)
        if talk.failure is not None:
            raise talk.failure
        return leave

    async def _listen(self, talk: Talk) -> Leave | None:
        """Take what the person says, until they leave."""
        while True:
            if self.waits:
                await talk.settled()
            said = await self.surface.read()
            if said is None:
                return None
            if not said.text.strip():
                continue
            leave = await self._heed(talk, said)
            if leave is not None:
                return leave

    async def _heed(self, talk: Talk, said: Said) -> Leave | None:
        try:
            return await self._take(talk, said)
        except GloveboxError as error:
            # A command that fails ends nothing, whatever kind of error it meets. Where session
            # or chain cannot be written, the next thing that is said ends it.
            self._tell(error)
            if not said.text.startswith("/"):
                self.surface.draft(said.text)
        return None

    async def _take(self, talk: Talk, said: Said) -> Leave | None:
        text = said.text
        if text.startswith("/") and not text.startswith("//"):
            return await self.command(talk, text)
        own = text.removeprefix("/") if text.startswith("//") else text
        await talk.say(own, later=said.later)
        return None

    def _tell(self, error: GloveboxError) -> None:
        hint = f" ({error.hint})" if error.hint else ""
        self.surface.note(escape_terminal(f"{error.message}{hint}"))
