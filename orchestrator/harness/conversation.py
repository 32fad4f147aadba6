"""A session that a person talks with: asked many times, in one box, until it is left.

What needs a session at rest (apply, discard, rewind of files) is done after leaving it; the same
session is then opened again, and its model is told so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

import anyio

from orchestrator.config.paths import Paths
from orchestrator.config.settings import Settings
from orchestrator.context.branching import BranchSummary, left_behind
from orchestrator.context.session_context import Compacted
from orchestrator.errors import (
    AuditError,
    BoxError,
    ContextError,
    EngineError,
    GloveboxError,
    SessionError,
    UsageError,
)
from orchestrator.harness.contexts import branch_summary
from orchestrator.harness.egress.net import Net
from orchestrator.harness.ending import stoppable, tell, unforeseen
from orchestrator.harness.front import FrontDoor
from orchestrator.harness.jumping import go_to, place_of
from orchestrator.harness.options import RunOptions
from orchestrator.harness.session import Session, open_session
from orchestrator.harness.winding import Outcome, RunEnd, wind_up
from orchestrator.loop.agent_loop import RunResult
from orchestrator.schema.head_event import LeafMoved
from orchestrator.schema.ids import EntryId
from orchestrator.schema.message import Image, Usage

Made = TypeVar("Made")

FATAL = (BoxError, EngineError, AuditError, SessionError)
"""Without box, engine, chain or session file there is nothing to go on with."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one thing that was said."""

    result: RunResult | None
    """None where it was aborted or failed."""
    error: GloveboxError | None = None
    """Already told to observers; the conversation goes on."""
    aborted: bool = False


class Conversation:
    """One session that is up; one thing is said at a time."""

    def __init__(self, session: Session) -> None:
        """Talk in a session that ``open_session`` gave."""
        self.session = session
        self.end: RunEnd | None = None
        """How it ended, once it was left."""
        self._scope: anyio.CancelScope | None = None
        self._turns = 0
        self._usage = Usage()
        self._cost_usd: float | None = 0.0

    @property
    def is_busy(self) -> bool:
        """Say whether the model is at work."""
        return self._scope is not None

    async def say(self, text: str, images: tuple[Image, ...] = ()) -> Reply:
        """Tell the model something and return when it stopped, failed or was aborted.

        A skill that the text calls for is on until then. Raises one of ``FATAL`` where the session
        cannot go on.
        """
        self._check_idle()
        session = self.session
        session.record.open_turn(text, session.output.scrub_message, images=images)
        return await self._work(text)

    async def go_on(self) -> Reply:
        """Let the model go on from where the conversation stands."""
        return await self._work()

    def abort(self) -> bool:
        """Stop the model and what it started, a summary too; False where nothing was at work."""
        if self._scope is None:
            return False
        self._scope.cancel()
        return True

    def steer(self, text: str, images: tuple[Image, ...] = ()) -> None:
        """Have the model told as soon as the calls that run now are over."""
        self.session.queue.steer(text, images)

    def follow_up(self, text: str, images: tuple[Image, ...] = ()) -> None:
        """Have the model told when it would stop."""
        self.session.queue.follow_up(text, images)

    async def use_skill(self, name: str | None) -> None:
        """Work by a skill from now on, whatever is said; None for no skill, and none is chosen.

        Raises SkillError or PromptError for one that cannot be used, UsageError while the model is
        at work: nothing is changed then.
        """
        skills = self.session.skills
        await self._at_rest(
            lambda: skills.use(name) if name is not None else skills.take_off(resumed=True)
        )

    async def choose_skills(self) -> None:
        """Let what is said choose a skill from now on; none is on until then.

        Raises UsageError while the model is at work.
        """
        await self.use_skill(None)
        self.session.skills.routes = True

    async def compact(self, focus: str = "") -> Compacted | None:
        """Summarise what was said before the newest; None where there is nothing to summarise.

        Raises ContextError where there is no whole summary or it was aborted, UsageError while the
        model is at work.
        """
        return await self._at_rest(
            lambda: self.session.context.compact(self.session.speech(), focus=focus)
        )

    def leaves(self, target: EntryId) -> bool:
        """Say whether going on from an entry leaves something behind that was said."""
        tree = self.session.record.store.tree
        left = left_behind(tree, place_of(target, tree).leaf)
        return any(entry.type == "message" for entry in left)

    async def go_to(self, target: EntryId, *, summarise: bool = False, focus: str = "") -> str:
        """Go on from another entry of the tree; return what is to be said anew, if it was said.

        ``summarise`` leaves a word there about the branch that is left, above all about ``focus``.
        Raises UsageError for an entry that is not there, or while the model is at work, ContextError
        or ModelError where there is no summary, SkillError for a skill that was on there and cannot
        be any more: then nothing has moved.
        """
        session = self.session

        async def moved() -> BranchSummary | None:
            made = await self._branch_summary(place.leaf, focus) if summarise else None
            await session.skills.follow(skill, lambda: go_to(session.record.store, place))
            return made

        place = place_of(target, session.record.store.tree)
        skill = session.skills.there(place.leaf)
        summary = await self._at_rest(moved)
        if summary is not None:
            session.record.store.append("branch_summary", summary.body)
            session.record.store.sync()
        session.observe(LeafMoved(place.leaf, summarised=summary is not None))
        return place.text

    async def _branch_summary(self, target: EntryId | None, focus: str) -> BranchSummary | None:
        session = self.session
        return await branch_summary(
            session.ground,
            session.models,
            session.meter,
            render=session.render,
            target=target,
            focus=focus,
        )

    async def _at_rest(self, work: Callable[[], Awaitable[Made]]) -> Made:
        """Do what the model must not be at work for; aborted, it has changed nothing."""
        if self._scope is not None:
            raise UsageError("the model is at work", hint="stop it first, with Esc")
        try:
            with anyio.CancelScope() as self._scope:
                return await work()
        finally:
            self._scope = None
        raise ContextError("it was stopped; nothing is changed")

    def _check_idle(self) -> None:
        if self._scope is not None:
            raise RuntimeError("the model is at work: queue what is said meanwhile")

    async def _work(self, said: str | None = None) -> Reply:
        self._check_idle()
        result: RunResult | None = None
        try:
            with anyio.CancelScope() as self._scope:
                result = await self._run(said)
        except FATAL:
            raise
        except GloveboxError as error:
            tell(self.session, type(error).__name__, error.message, hint=error.hint)
            return Reply(None, error)
        finally:
            self._scope = None
            self.session.models.turn()
        if result is None:
            return Reply(None, aborted=True)
        self._count(result)
        return Reply(result)

    async def _run(self, said: str | None) -> RunResult:
        skills = self.session.skills
        try:
            if said is not None:
                await skills.route(said)
            return await self.session.loop.run()
        finally:
            # Also where it was stopped: what was chosen for this must not hold for what comes next.
            with anyio.CancelScope(shield=True):
                await skills.settle()

    def _count(self, result: RunResult) -> None:
        self._turns += result.turns
        self._usage += result.usage
        known = self._cost_usd is not None and result.cost_usd is not None
        self._cost_usd = (self._cost_usd or 0.0) + (result.cost_usd or 0.0) if known else None

    @property
    def total(self) -> RunResult:
        """What all that was said came to."""
        return RunResult("done", "", self._turns, self._usage, self._cost_usd)


@asynccontextmanager
async def open_conversation(
    options: RunOptions,
    settings: Settings,
    paths: Paths,
    *,
    front: FrontDoor,
    net: Net | None = None,
) -> AsyncIterator[Conversation]:
    """Bring a session up to talk in; leaving ends it in order, and ``end`` then says how.

    Raises GloveboxError where none comes up. SIGTERM and SIGHUP end it as they end a run.
    """
    async with (
        stoppable() as (scope, got),
        open_session(options, settings, paths, front=front, net=net) as session,
    ):
        talk = Conversation(session)
        error: GloveboxError | None = None
        left = False
        try:
            with scope:
                yield talk
                left = True
        except FATAL as failure:
            error = failure
        except BaseException as bug:
            with anyio.CancelScope(shield=True):
                talk.end = await wind_up(session, Outcome(None, unforeseen(bug), got))
            raise
        with anyio.CancelScope(shield=True):
            talk.end = await wind_up(session, Outcome(talk.total if left else None, error, got))
