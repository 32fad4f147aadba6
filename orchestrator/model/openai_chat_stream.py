"""The chunks of a Chat Completions stream folded into one message; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orchestrator.model.answer import assemble
from orchestrator.model.client import Delta, ModelInfo
from orchestrator.model.errors import Failure, broken_stream, model_error
from orchestrator.model.openai_chat_calls import CallFold
from orchestrator.model.openai_chat_request import REASONING_FIELDS
from orchestrator.model.openai_usage import usage_from
from orchestrator.schema.message import AssistantMessage, Message, StopReason, Text, Thinking

_STOPS: Mapping[str, StopReason] = {
    "stop": "end_turn",
    "eos": "end_turn",
    "stop_sequence": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "model_length": "max_tokens",
    "content_filter": "refusal",
}


class ChatFold:
    """Takes chunks in order; ``finish`` gives the message, or says that it never ended."""

    def __init__(self, info: ModelInfo) -> None:
        """Begin an answer of a model."""
        self._info = info
        self._text = ""
        self._thoughts = ""
        self._thought_field = ""
        self._refused = False
        self._calls = CallFold()
        self._stop: str | None = None
        self._usage: Mapping[str, Any] | None = None

    def feed(self, chunk: Mapping[str, Any]) -> Iterator[Delta]:
        """Take one chunk; give what a reader can see of it."""
        self._usage = chunk.get("usage") or self._usage
        for choice in chunk.get("choices") or ():
            if choice.get("index") or 0:
                continue
            self._usage = choice.get("usage") or self._usage
            self._stop = choice.get("finish_reason") or self._stop
            yield from self._take(choice.get("delta") or {})

    def _take(self, delta: Mapping[str, Any]) -> Iterator[Delta]:
        for name in REASONING_FIELDS:
            thought = delta.get(name)
            # A server that fills both fields says the same in both.
            if isinstance(thought, str) and thought and self._thought_field in {"", name}:
                self._thought_field = name
                self._thoughts += thought
                yield Delta("thinking", thought)
        for name in ("content", "refusal"):
            text = delta.get(name)
            if isinstance(text, str) and text:
                self._refused = self._refused or name == "refusal"
                self._text += text
                yield Delta("text", text)
        for entry in delta.get("tool_calls") or ():
            self._calls.take(entry)

    def finish(self, before: Iterable[Message]) -> AssistantMessage:
        """Return the whole message; raises ModelError where the stream ended before it."""
        if self._stop is None:
            raise broken_stream(self._info.id, "the stream ended before its finish_reason")
        stop = _STOPS.get(self._stop)
        if stop is None:
            why = f"unknown finish_reason {self._stop!r}"
            raise model_error(self._info.id, Failure(200, message=why))
        pieces: list[Any] = [Text(self._text), *self._calls.pieces]
        if self._thoughts:
            thinking = Thinking(self._thoughts, self._info.provider, self._thought_field)
            pieces.insert(0, thinking)
        usage = usage_from(self._usage, side=("prompt_tokens", "completion_tokens"))
        settled: StopReason = "refusal" if self._refused else stop
        return assemble(pieces, settled, usage, info=self._info, before=before)
