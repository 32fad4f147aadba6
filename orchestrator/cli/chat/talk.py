"""The course of a chat: what is said, what is a command, what needs the session at rest.

A command that needs the session at rest leaves it, is carried out, and the same session is opened
again; everything else happens in one box.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import anyio
from anyio.abc import TaskGroup

from orchestrator.cli.chat.surface import Surface
from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.errors import GloveboxError, UsageError
from orchestrator.harness.conversation import FATAL, Conversation, open_conversation
from orchestrator.harness.egress.net import Net
from orchestrator.harness.options import RunOptions
from orchestrator.harness.winding import RunEnd
from orchestrator.schema.ids import SessionId
from orchestrator.schema.terminal_text import escape_terminal

AtRest = Callable[[Paths, SessionId], Awaitable[None]]
"""What is done with the session at rest."""


@dataclass(frozen=True, slots=True)
class Leave:
    """The person wants to go; ``then`` is done before the session is opened again, if at all."""

    then: AtRest | None = None


@dataclass(slots=True)
class Talk:
    """One opening of the session; what commands work with."""

    conversation: Conversation
    surface: Surface
    paths: Paths
    group: TaskGroup
    _settled: anyio.Event = field(default_factory=anyio.Event)
    failure: GloveboxError | None = None
    """What the session cannot go on after."""

    def __post_init__(self) -> None:
        """Nothing has been said yet."""
        self._settled.set()

    @property
    def is_busy(self) -> bool:
        """Say whether the model is at work, or about to be."""
        return not self._settled.is_set()

    def say(self, text: str) -> None:
        """Have the model told something; returns at once."""
        self._settled = anyio.Event()
        self.group.start_soon(self._say, text, self._settled)

    async def settled(self) -> None:
        """Return when the model is not at work."""
        await self._settled.wait()

    async def _say(self, text: str, done: anyio.Event) -> None:
        try:
            reply = await self.conversation.say(text)
            if reply.aborted:
                self.surface.note("stopped; what ran was ended")
        except FATAL as error:
            self.failure = error
            self.group.cancel_scope.cancel()
        finally:
            done.set()


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
        options, first = replace(self.options, prompt=None), self.options.prompt
        while True:
            async with open_conversation(
                options, self.settings, self.paths, front=self.surface, net=self.net
            ) as conversation:
                leave = await self._talk(conversation, first)
            end, first = conversation.end, None
            if end is None:
                raise RuntimeError("a conversation was left and has no end")
            if leave is None or leave.then is None or end.exit_code:
                return end
            await self._at_rest(leave.then, end.session)
            options = replace(options, resume=end.session, resume_latest=False, fork=False)

    async def _at_rest(self, then: AtRest, session: SessionId) -> None:
        try:
            await then(self.paths, session)
        except GloveboxError as error:
            self._tell(error)

    async def _talk(self, conversation: Conversation, first: str | None) -> Leave | None:
        async with anyio.create_task_group() as group:
            talk = Talk(conversation, self.surface, self.paths, group)
            if first:
                talk.say(first)
            leave = await self._listen(talk)
            conversation.abort()
            await talk.settled()
        if talk.failure is not None:
            raise talk.failure
        return leave

    async def _listen(self, talk: Talk) -> Leave | None:
        """Take what the person says, until they leave."""
        while True:
            if self.waits:
                await talk.settled()
            line = await self.surface.read()
            if line is None:
                return None
            if not line.strip():
                continue
            try:
                if line.startswith("/") and not line.startswith("//"):
                    leave = await self.command(talk, line)
                    if leave is not None:
                        return leave
                elif talk.is_busy:
                    raise UsageError("the model is at work", hint="stop it first, with Esc")
                else:
                    talk.say(line.removeprefix("/") if line.startswith("//") else line)
            except FATAL:
                raise
            except GloveboxError as error:
                self._tell(error)

    def _tell(self, error: GloveboxError) -> None:
        hint = f" ({error.hint})" if error.hint else ""
        self.surface.note(escape_terminal(f"{error.message}{hint}"))
