"""A list of models, each asked only where those before it cannot be had."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from orchestrator.errors import ModelError, ModelFailure
from orchestrator.model.client import Delta, ModelClient, ModelInfo, OnDelta, Prompt
from orchestrator.schema.message import AssistantMessage

OUTAGE: frozenset[ModelFailure] = frozenset(
    {"network", "overloaded", "rate_limit", "server", "quota"}
)
"""Failures of the provider; a bad request or a wrong key would only hide behind another model."""

Opener = Callable[[], Awaitable[ModelClient]]
OnFallback = Callable[[ModelInfo, ModelError], None]
"""Called with the model that takes over, and why."""


class Fallback:
    """A model that gives way to the next in an outage, and stays there.

    It does not go back by itself: a provider that comes and goes would lose every prompt cache.
    """

    def __init__(
        self, first: ModelClient, others: Sequence[Opener], *, on_fallback: OnFallback
    ) -> None:
        """Ask ``first``; each of ``others`` is opened when it is needed, and may raise ModelError."""
        self._current = first
        self._others = list(others)
        self._on_fallback = on_fallback

    @property
    def info(self) -> ModelInfo:
        """Return what is known of the model that is asked now."""
        return self._current.info

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Return the first answer that can be had; raises the last model's ModelError."""
        while True:
            try:
                return await self._current.complete(prompt, on_delta=on_delta)
            except ModelError as error:
                if error.kind not in OUTAGE or not self._others:
                    raise
                on_delta(Delta("void", ""))
                self._current = await self._others.pop(0)()
                self._on_fallback(self._current.info, error)
