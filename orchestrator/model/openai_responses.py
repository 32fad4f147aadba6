"""OpenAI Responses through the official SDK; the provider is told to store nothing."""

from __future__ import annotations

import re
from typing import Any

from orchestrator.errors import ModelError
from orchestrator.model.catalog import Target
from orchestrator.model.client import ModelInfo, OnDelta, Prompt
from orchestrator.model.openai_responses_request import request_body
from orchestrator.model.openai_responses_stream import ResponsesFold
from orchestrator.model.sdk_failure import Translator
from orchestrator.model.streaming import pour
from orchestrator.schema.message import AssistantMessage


class OpenAIResponses:
    """A model behind ``POST /responses``."""

    def __init__(self, client: Any, target: Target, failures: Translator) -> None:
        """Use an open ``AsyncOpenAI``."""
        self._client = client
        self._target = target
        self._failures = failures
        self._summaries = True

    @property
    def info(self) -> ModelInfo:
        """Return what is known of the model."""
        return self._target.info

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Return the whole message after streaming it; never a half one."""
        body = request_body(prompt, self._target)
        if not self._summaries:
            _without_summary(body)
        try:
            return await self._ask(body, prompt, on_delta)
        except ModelError as error:
            if not _refuses_summary(error, body):
                raise
        # Organisations that OpenAI has not verified get thoughts, and no summaries of them.
        self._summaries = False
        _without_summary(body)
        return await self._ask(body, prompt, on_delta)

    async def _ask(
        self, body: dict[str, Any], prompt: Prompt, on_delta: OnDelta
    ) -> AssistantMessage:
        fold = ResponsesFold(self.info, limit=body["max_output_tokens"])
        with self._failures.translating():
            stream = await self._client.responses.create(**body, stream=True)
            await pour(stream, fold, on_delta, model=self.info.id)
        return fold.finish(prompt.messages)


def _without_summary(body: dict[str, Any]) -> None:
    if "reasoning" in body:
        body["reasoning"].pop("summary", None)


def _refuses_summary(error: ModelError, body: dict[str, Any]) -> bool:
    """Say whether a request was refused for asking to see the thoughts."""
    told = re.search(r"reasoning.?summar", error.message, re.IGNORECASE)
    return error.kind == "bad_request" and "summary" in body.get("reasoning", {}) and bool(told)
