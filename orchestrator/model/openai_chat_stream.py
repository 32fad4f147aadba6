"""The chunks of a Chat Completions stream folded into one message; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orchestrator.model.answer import assemble
from orchestrator.model.client import Delta, ModelInfo
from orchestrator.model.dialect import Dialect
from orchestrator.model.errors import Failure, broken_stream, model_error
from orchestrator.model.event_shape import object_in
from orchestrator.model.openai_chat_calls import CallFold
from orchestrator.model.openai_chat_request import REASONING_FIELDS
from orchestrator.model.openai_usage import usage_from
from orchestrator.model.sdk_failure import failure_in
from orchestrator.model.stops import ended
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
    "sensitive": "refusal",
}


_FAILED: Mapping[str, Failure] = {
    "error": Failure(200, message="finish_reason error: the answer broke off"),
    "insufficient_system_resource": Failure(
        503, message="finish_reason insufficient_system_resource"
    ),
    "network_error": Failure(None, message="finish_reason network_error"),
}
"""Ends that are none: the answer is a part, and asked for again."""


def _refused(told: Mapping[str, Any]) -> bool:
    """Say whether MiniMax's own word on an answer is that it is none."""
    return str(told.get("status_code") or "0") != "0"


class ChatFold:
    """Takes chunks in order; ``finish`` gives the message, or says that it never ended."""

    def __init__(self, info: ModelInfo, dialect: Dialect | None = None) -> None:
        """Begin an answer of a model."""
        self._info = info
        self._dialect = dialect or Dialect()
        self._text = ""
        self._thoughts = ""
        self._thought_field = ""
        self._refused = False
        self._calls = CallFold()
        self._stop: str | None = None
        self._usage: Mapping[str, Any] | None = None

    def feed(self, chunk: Mapping[str, Any]) -> Iterator[Delta]:
        """Take one chunk; give what a reader can see of it. Raises ModelError for a failure."""
        self._usage = chunk.get("usage") or self._usage
        if chunk.get("object") == "error" or _refused(object_in(chunk, "base_resp")):
            raise model_error(self._info.id, failure_in(chunk))
        for choice in chunk.get("choices") or ():
            if told := object_in(choice, "error"):
                raise model_error(self._info.id, failure_in(told))
            if choice.get("index") or 0:
                continue
            self._usage = choice.get("usage") or self._usage
            self._stop = choice.get("finish_reason") or self._stop
            yield from self._take(object_in(choice, "delta"))
            if not (self._text or self._thoughts or self._calls.pieces):
                # A server that streams nothing may still send its answer as one event.
                yield from self._take(object_in(choice, "message"))

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
            if isinstance(text, list):
                yield from self._parts(text)
            if isinstance(text, str) and text:
                self._refused = self._refused or name == "refusal"
                self._text += text
                yield Delta("text", text)
        for entry in delta.get("tool_calls") or ():
            yield self._calls.take(entry)
        if older := object_in(delta, "function_call"):
            yield self._calls.take({"index": 0, "function": older})

    def _parts(self, parts: Iterable[Any]) -> Iterator[Delta]:
        """Take content that comes in parts, thoughts among them."""
        for part in parts:
            if not isinstance(part, Mapping):
                continue
            thought = part.get("thinking")
            if isinstance(thought, list):
                thought = "".join(
                    str(p.get("text") or "") for p in thought if isinstance(p, Mapping)
                )
            if isinstance(thought, str) and thought:
                self._thoughts += thought
                yield Delta("thinking", thought)
            if isinstance(text := part.get("text"), str) and text:
                self._text += text
                yield Delta("text", text)

    def _ended(self) -> tuple[StopReason, str]:
        """Return how the answer ended, in a word of its own if need be; raises ModelError where it did not end whole."""
        if self._stop is None:
            if self._dialect.finish_optional and (self._text or self._calls.pieces):
                return "tool_use" if self._calls.pieces else "end_turn", ""
            raise broken_stream(self._info.id, "the stream ended before its finish_reason")
        if self._stop in _FAILED:
            raise model_error(self._info.id, _FAILED[self._stop])
        return ended(self._stop, _STOPS, model=self._info.id)

    def finish(self, before: Iterable[Message]) -> AssistantMessage:
        """Return the whole message; raises ModelError where the stream ended before it."""
        stop, word = self._ended()
        pieces: list[Any] = [Text(self._text), *self._calls.pieces]
        if self._thoughts:
            thinking = Thinking(self._thoughts, self._info.provider, self._thought_field)
            pieces.insert(0, thinking)
        usage = usage_from(self._usage, side=("prompt_tokens", "completion_tokens"))
        settled: StopReason = "refusal" if self._refused else stop
        return assemble(pieces, settled, usage, info=self._info, before=before, stop_word=word)
