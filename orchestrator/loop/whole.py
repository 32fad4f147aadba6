"""The simplest context: the whole conversation in every request, and nothing to shrink."""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.context.speech import Speech
from orchestrator.model.client import Prompt
from orchestrator.schema.message import AssistantMessage, Message


class WholeConversation:
    """Sends what it is given, whole."""

    def __init__(self, messages: Callable[[], tuple[Message, ...]], *, cache_key: str) -> None:
        """``messages`` gives the conversation, fit to send; ``cache_key`` is the session's id."""
        self._messages = messages
        self._cache_key = cache_key

    async def request(self, speech: Speech) -> Prompt:
        """Return a request with all that was said."""
        messages = self._messages()
        return Prompt(
            speech.system,
            messages,
            speech.tools,
            thinking=speech.thinking,
            cache_key=self._cache_key,
            answers=sum(isinstance(message, AssistantMessage) for message in messages),
        )

    async def lighten(self, speech: Speech) -> bool:  # noqa: ARG002 - the Context's form
        """Say that no picture can be left out."""
        return False

    async def forget_thoughts(self, speech: Speech) -> bool:  # noqa: ARG002 - the Context's form
        """Say that no thought can be left out."""
        return False

    async def shrink(self, speech: Speech) -> bool:  # noqa: ARG002 - the Context's form
        """Say that nothing can be left out."""
        return False
