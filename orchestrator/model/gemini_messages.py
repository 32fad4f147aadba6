"""Gemini's ``streamGenerateContent`` through the official SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from orchestrator.model.catalog import Target
from orchestrator.model.client import ModelInfo, OnDelta, Prompt
from orchestrator.model.errors import NOTHING, unreadable
from orchestrator.model.gemini_failure import GeminiTranslator
from orchestrator.model.gemini_request import request_body
from orchestrator.model.gemini_responses import closed_on_failure
from orchestrator.model.gemini_stream import GeminiFold
from orchestrator.model.streaming import STALLED_S, patient
from orchestrator.schema.message import AssistantMessage


class GeminiMessages:
    """A model behind ``POST /v1beta/models/NAME:streamGenerateContent``."""

    def __init__(
        self,
        client: Any,
        target: Target,
        failures: GeminiTranslator,
        *,
        stalled_s: float = STALLED_S,
    ) -> None:
        """Use the asynchronous part of an open ``google.genai.Client``."""
        self._stalled_s = stalled_s
        self._client = client
        self._target = target
        self._failures = failures

    @property
    def info(self) -> ModelInfo:
        """Return what is known of the model."""
        return self._target.info

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Return the whole message after streaming it; never a half one."""
        body = request_body(prompt, self._target)
        fold, begun = GeminiFold(self.info), False
        with self._failures.translating(), patient(self.info.id, self._stalled_s) as heard:
            async with closed_on_failure():
                stream = await self._client.models.generate_content_stream(**body)
                async with aclosing(stream):
                    async for chunk in _chunks(stream, self.info.id):
                        begun = True
                        for delta in fold.feed(chunk.model_dump(exclude_none=True)):
                            heard()
                            on_delta(delta)
        if not begun:
            raise unreadable(self.info.id, NOTHING)
        return fold.finish(prompt.messages)


async def _chunks(stream: Any, model: str) -> AsyncIterator[Any]:
    """Give the SDK's chunks; ModelError where it stumbles over a shape that it does not know."""
    chunks = aiter(stream)
    while True:
        try:
            chunk = await anext(chunks, None)
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            why = f"an event of the answer cannot be read: {type(error).__name__}"
            raise unreadable(model, why) from None
        if chunk is None:
            return
        yield chunk
