"""Trying a model call again where that can help: capped exponential waits with jitter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from orchestrator.errors import ModelError
from orchestrator.model.client import Delta, ModelClient, ModelInfo, OnDelta, Prompt
from orchestrator.schema.message import AssistantMessage

OnRetry = Callable[[int, float, str], None]
"""Called with attempt (from 1), delay in seconds and reason, before the wait.

Whatever the failed attempt streamed is void."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long."""

    attempts: int = 6
    """All tries together."""
    first_delay_s: float = 1.0
    max_delay_s: float = 60.0
    max_retry_after_s: float = 300.0
    """A provider that asks for a longer wait than this is not waited for."""


class Retrying:
    """A model that tries again; an error that leaves it is final."""

    def __init__(
        self,
        client: ModelClient,
        *,
        sleep: Callable[[float], Awaitable[None]],
        rng: Callable[[], float],
        on_retry: OnRetry,
        policy: RetryPolicy | None = None,
    ) -> None:
        """Wrap a client; ``rng`` gives numbers from 0 to 1."""
        self._client = client
        self._sleep = sleep
        self._rng = rng
        self._on_retry = on_retry
        self._policy = policy or RetryPolicy()

    @property
    def info(self) -> ModelInfo:
        """Return what is known of the model."""
        return self._client.info

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Return the first whole answer; raises the last ModelError when tries or patience end."""
        attempt = 1
        while True:
            try:
                return await self._client.complete(prompt, on_delta=on_delta)
            except ModelError as error:
                delay = self._delay(attempt, error)
                if delay is None:
                    raise
                on_delta(Delta("void", ""))
                self._on_retry(attempt, delay, error.message)
            await self._sleep(delay)
            attempt += 1

    def _delay(self, attempt: int, error: ModelError) -> float | None:
        """Return how long to wait before the next try; None where there is none."""
        policy = self._policy
        most = policy.attempts if error.tries is None else min(policy.attempts, error.tries)
        if not error.retryable or attempt >= most:
            return None
        asked = error.retry_after_s
        if asked is not None and asked > policy.max_retry_after_s:
            return None
        full = min(policy.first_delay_s * 2.0 ** (attempt - 1), policy.max_delay_s)
        # Jitter only shortens our own wait and only lengthens the provider's.
        if asked is None:
            return full * (0.5 + self._rng() / 2)
        return asked + self._rng() * min(asked, policy.first_delay_s)
