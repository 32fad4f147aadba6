"""The models of one session: opened when they are needed, closed when it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from orchestrator.config.providers import ProviderSettings
from orchestrator.credentials.secret import Secret
from orchestrator.errors import ConfigError, CredentialError, ModelError
from orchestrator.harness.models.roles import Roles
from orchestrator.harness.overrides import check_model
from orchestrator.model.catalog import resolve
from orchestrator.model.client import ModelClient, ModelInfo, OnBroken, OnDelta, Prompt, uncounted
from orchestrator.model.factory import open_model
from orchestrator.model.fallback import Fallback, Opener
from orchestrator.model.retry import RetryPolicy
from orchestrator.policy.effective import EffectivePolicy
from orchestrator.schema.event import Observer, Retry
from orchestrator.schema.head_event import ModelChange
from orchestrator.schema.message import AssistantMessage, Usage
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.schema.thinking import THINKING_LEVELS, ThinkingLevel

Reason = Literal["user", "skill", "fallback"]
IMPATIENT = RetryPolicy(attempts=3)
"""Where another model can take over, an outage is not waited out."""


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Where models and their keys come from."""

    providers: Mapping[str, ProviderSettings]
    environ: Mapping[str, str]
    keys: Callable[[str], Secret | None]
    warn: Callable[[str], None]
    scrub: Callable[[str], str]
    """Keeps keys out of what is told of failures."""
    counted: Callable[[ModelClient], ModelClient] = lambda client: client
    """Stands before each model that is opened."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a skill would like instead of what the person chose, for as long as it is on."""

    client: ModelClient | None = None
    """None leaves the model."""
    thinking: ThinkingLevel | None = None
    """None leaves the level."""


NO_WISH = Wish()


@dataclass(slots=True)
class Models:
    """One session's; it is itself the model of the main role, whichever that is now."""

    roles: Roles
    """What the person chose; a wish is no part of it."""
    policy: EffectivePolicy
    source: ModelSource
    observe: Observer
    _stack: AsyncExitStack
    learn: Callable[[], None] = lambda: None
    """Called after a key was asked for, before anything is sent with it."""
    note: Callable[[Mapping[str, Any]], None] = lambda _: None
    """Called with the body of a ``model_change`` entry, for the session's file."""
    on_broken: OnBroken = uncounted
    _open: dict[str, ModelClient] = field(default_factory=dict)
    _main: ModelClient | None = None
    _wish: Wish = NO_WISH
    _waiting: list[Callable[[], None]] = field(default_factory=list)

    async def begin(self) -> None:
        """Open the main model; raises what opening a model raises."""
        self.roles.check(self.policy)
        self._main = await self._chain(self.roles.main)
        if self.roles.small:
            await self._opened(self.roles.small)

    @property
    def info(self) -> ModelInfo:
        """Return what is known of the main model."""
        return self._now.info

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Ask the main model."""
        return await self._now.complete(prompt, on_delta=on_delta)

    @property
    def small(self) -> ModelClient:
        """The model for titles, summaries and choices."""
        return self._open[self.roles.small] if self.roles.small else self._now

    @property
    def in_reach(self) -> Iterator[ModelInfo]:
        """What is known of each model that may be asked as things are: main, small, fallbacks."""
        yield self.info
        yield self.small.info
        for name in self.roles.fallback:
            if name in self._open:
                yield self._open[name].info
            else:
                # One that nobody knows is told of when it would take over.
                with suppress(ConfigError):
                    yield from self._known(name)

    @property
    def thinking(self) -> ThinkingLevel | None:
        """The level that is asked for; None leaves the model its own default."""
        return self._wish.thinking or self.roles.thinking

    @property
    def wish(self) -> Wish:
        """What is asked instead of what the person chose."""
        return self._wish

    async def switch(self, name: str, *, at_work: bool = False) -> ModelInfo:
        """Ask another model from the next request on.

        ``at_work``: a turn runs, and what it costs and calls is the old one's until ``turn``.
        Raises ConfigError for one that policy does not allow or nobody knows, CredentialError
        without its key; the old one then stays.
        """
        check_model(self.policy, name)
        chain = await self._chain(name)

        def take_over() -> None:
            self._main, self.roles = chain, replace(self.roles, main=name)
            self._wish = replace(self._wish, client=None)
            self._tell("user")

        self._waiting.append(take_over)
        if not at_work:
            self.turn()
        return chain.info

    def turn(self) -> None:
        """Have what waited for the turn to be over hold from now on."""
        waiting, self._waiting = self._waiting, []
        for take_over in waiting:
            take_over()

    async def wished(self, name: str | None, thinking: ThinkingLevel | None) -> Wish:
        """Return a wish that ``grant`` can put in force; changes nothing, raises as ``switch``."""
        if name is None or name == self.roles.main:
            return Wish(None, thinking)
        check_model(self.policy, name)
        return Wish(await self._chain(name), thinking)

    def grant(self, wish: Wish) -> None:
        """Ask what a skill would like from the next request on; ``NO_WISH`` leaves nothing of one.

        What the person chooses meanwhile takes its place, and stays.
        """
        before = self.info.id, self.thinking
        self._wish = wish
        if (self.info.id, self.thinking) != before:
            self._tell("skill")

    def think(self, level: ThinkingLevel | None, *, at_work: bool = False) -> None:
        """Ask for another level of thinking from the next request on; ``at_work`` as in ``switch``."""
        if level is not None and level not in THINKING_LEVELS:
            raise ConfigError(
                f"thinking: expected one of {', '.join(THINKING_LEVELS)}, got {level!r}"
            )

        def take_over() -> None:
            self.roles = replace(self.roles, thinking=level)
            self._wish = replace(self._wish, thinking=None)
            self._tell("user")

        self._waiting.append(take_over)
        if not at_work:
            self.turn()

    def change(self, reason: Literal["start"] | Reason) -> dict[str, Any]:
        """Return the body of an entry about the models as they are now.

        ``model`` is the one that is asked; ``name`` and ``thinking`` are what the person chose, which
        a session that is taken up goes on with.
        """
        return {
            "model": self.info.id,
            "name": self.roles.main,
            "thinking": self.roles.thinking,
            "reason": reason,
        }

    @property
    def _now(self) -> ModelClient:
        if self._main is None:
            raise RuntimeError("the model is asked for before it is open")
        return self._wish.client or self._main

    async def _chain(self, name: str) -> ModelClient:
        """Return a model with those behind it that take over in an outage."""
        behind = [other for other in self.roles.fallback if other != name]
        first = await self._opened(name, impatient=bool(behind))
        if not behind:
            return first

        def opener(other: str, *, last: bool) -> Opener:
            async def open_it() -> ModelClient:
                try:
                    return await self._opened(other, impatient=not last)
                except (ConfigError, CredentialError) as error:
                    raise ModelError(
                        f"{name} cannot be had, nor can {other}: {error.message}",
                        kind="bad_request",
                        hint=error.hint,
                    ) from error

            return open_it

        others = [opener(other, last=other == behind[-1]) for other in behind]
        return Fallback(first, others, on_fallback=self._fell_back)

    def _fell_back(self, info: ModelInfo, error: ModelError) -> None:
        said = self.source.scrub(f"{error.message}; {info.id} takes over")
        # The words are a server's own.
        self.source.warn(escape_terminal(said))
        self._tell("fallback")

    def _tell(self, reason: Reason) -> None:
        self.note(self.change(reason))
        self.observe(ModelChange(self.info.id, self.thinking, reason))

    def _known(self, name: str) -> Iterator[ModelInfo]:
        """Yield what is known of a model that is not open; nothing of ``local`` or a script."""
        if "/" in name and not name.startswith("scripted:"):
            source = self.source
            yield resolve(name, providers=source.providers, environ=source.environ).info

    async def _opened(self, name: str, *, impatient: bool = False) -> ModelClient:
        if name not in self._open:
            opened = await self._stack.enter_async_context(
                open_model(
                    name,
                    providers=self.source.providers,
                    environ=self.source.environ,
                    keys=self.source.keys,
                    on_retry=self._on_retry,
                    warn=self.source.warn,
                    retry=IMPATIENT if impatient else None,
                    on_broken=self._broke_off,
                )
            )
            self._open[name] = self.source.counted(opened)
            self.learn()
        return self._open[name]

    async def _broke_off(self, info: ModelInfo, usage: Usage) -> None:
        await self.on_broken(info, usage)

    def _on_retry(self, attempt: int, delay_s: float, reason: str) -> None:
        self.observe(Retry(attempt, delay_s * 1000, self.source.scrub(reason)))


@asynccontextmanager
async def open_models(
    roles: Roles, policy: EffectivePolicy, source: ModelSource, *, observe: Observer
) -> AsyncIterator[Models]:
    """Open a session's models; on leaving, all that were opened are closed."""
    async with AsyncExitStack() as stack:
        models = Models(roles, policy, source, observe, stack)
        await models.begin()
        yield models
