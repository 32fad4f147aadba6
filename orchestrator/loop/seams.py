"""What the loop needs of those around it, apart from the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from orchestrator.context.speech import Speech
from orchestrator.dispatch.batch import Keep
from orchestrator.model.client import Prompt
from orchestrator.schema.message import Message, ToolCall, ToolResult, UserMessage


class Transcript(Protocol):
    """The conversation on disk."""

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation along the current path, fit to send."""
        ...

    def add(self, message: Message, **facts: Any) -> None:
        """Append a message, with facts beside it, and return when it is on disk."""
        ...

    def hold(self, calls: Sequence[ToolCall]) -> None:
        """Note on disk that calls of the last answer wait for a person; none of them has run."""
        ...

    def take_up(self) -> tuple[ToolCall, ...]:
        """Return the calls that wait, once: from here on they may have run."""
        ...


class ToolRunner(Protocol):
    """Runs a turn's calls; ``dispatch.Dispatcher`` is the real one."""

    async def dispatch(self, calls: Sequence[ToolCall], *, keep: Keep) -> tuple[ToolResult, ...]:
        """Return one result a call, in order; ``keep`` hears each as it comes."""
        ...


class Context(Protocol):
    """Makes each request fit its model; ``orchestrator.context`` is the real one."""

    async def request(self, speech: Speech) -> Prompt:
        """Return the next request; the conversation is compacted first where that is due.

        Raises ContextError where nothing makes it fit: a request too long is never sent.
        """
        ...

    async def lighten(self, speech: Speech) -> bool:
        """Take out pictures because the provider refused the request's bytes; False without any.

        Every time fewer are left, so a loop that asks after each refusal ends.
        """
        ...

    async def forget_thoughts(self, speech: Speech) -> bool:
        """Leave out the thoughts of the model that is asked; False where none is sent."""
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
