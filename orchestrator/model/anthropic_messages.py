"""Anthropic Messages through the official SDK, always streamed."""

from __future__ import annotations

from typing import Any

from orchestrator.model.anthropic_request import request_body
from orchestrator.model.anthropic_stream import AnthropicFold
from orchestrator.model.catalog import Target
from orchestrator.model.client import ModelInfo, OnDelta, Prompt
from orchestrator.model.sdk_failure import Translator
from orchestrator.model.streaming import pour
from orchestrator.schema.message import AssistantMessage


class AnthropicMessages:
    """A model behind ``POST /v1/messages``."""

    def __init__(self, client: Any, target: Target, failures: Translator) -> None:
        """Use an open ``AsyncAnthropic``."""
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
        fold = AnthropicFold(self.info)
        with self._failures.translating():
            stream = await self._client.messages.create(**body, stream=True)
            await pour(stream, fold, on_delta, model=self.info.id)
        return fold.finish(prompt.messages)
