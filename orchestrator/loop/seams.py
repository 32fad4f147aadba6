"""What the loop needs of those above and beside it, apart from model, runner and transcript."""

from __future__ import annotations

from typing import Protocol

from orchestrator.context.speech import Speech
from orchestrator.model.client import Prompt
from orchestrator.schema.message import UserMessage


class Context(Protocol):
    """Makes each request fit its model; ``orchestrator.context`` is the real one."""

    async def request(self, speech: Speech) -> Prompt:
        """Return the next request; the conversation is compacted first where that is due.

        Raises ContextError where nothing makes it fit: a request too long is never sent.
        """
        ...

    async def shrink(self, speech: Speech) -> bool:
        """Compact because the provider said the request was too long; False where nothing is left."""
        ...


class Queue(Protocol):
    """What the person says while the model works."""

    def steering(self) -> tuple[UserMessage, ...]:
        """Take what is to be told as soon as the running calls are over."""
        ...

    def follow_ups(self) -> tuple[UserMessage, ...]:
        """Take what is to be told once the model would stop."""
        ...
