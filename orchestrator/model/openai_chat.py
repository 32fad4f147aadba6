"""OpenAI Chat Completions, OpenAI's own and its many imitators', through the official SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.model.catalog import Target
from orchestrator.model.client import ModelInfo, OnDelta, Prompt
from orchestrator.model.openai_chat_request import request_body
from orchestrator.model.openai_chat_stream import ChatFold
from orchestrator.model.openai_chat_thinking import OWN_FIELDS
from orchestrator.model.sdk_failure import Translator
from orchestrator.model.streaming import pour
from orchestrator.schema.message import AssistantMessage


def sdk_fields(body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields that the SDK knows, and those that only some servers do."""
    own = {name: value for name, value in body.items() if name in OWN_FIELDS}
    return {name: value for name, value in body.items() if name not in own}, own


class OpenAIChat:
    """A model behind ``POST /chat/completions``."""

    def __init__(self, client: Any, target: Target, failures: Translator) -> None:
        """Use an open ``AsyncOpenAI``."""
        self._client = client
        self._target = target
        self._failures = failures

    @property
    def info(self) -> ModelInfo:
        """Return what is known of the model."""
        return self._target.info

    async def complete(self, prompt: Prompt, *, on_delta: OnDelta) -> AssistantMessage:
        """Return the whole message after streaming it; never a half one."""
        known, own = sdk_fields(request_body(prompt, self._target))
        fold = ChatFold(self.info, self._target.dialect)
        with self._failures.translating():
            stream = await self._client.chat.completions.create(
                **known, extra_body=own, stream=True
            )
            await pour(stream, fold, on_delta, model=self.info.id)
        return fold.finish(prompt.messages)
