"""The events of an Anthropic Messages stream folded into one message; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from orchestrator.model.answer import CallPieces, Piece, assemble
from orchestrator.model.anthropic_request import REDACTED
from orchestrator.model.client import Delta, ModelInfo
from orchestrator.model.counts import count
from orchestrator.model.errors import broken_stream
from orchestrator.model.event_shape import object_in, text_in
from orchestrator.model.stops import ended
from orchestrator.schema.message import (
    AssistantMessage,
    Message,
    StopReason,
    Text,
    Thinking,
    Usage,
)

_STOPS: Mapping[str, StopReason] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    # Not in the SDK's types; some models say so where a filter stopped them.
    "sensitive": "refusal",
    "pause_turn": "pause",
}


@dataclass(slots=True)
class _Block:
    type: str
    text: str = ""
    signature: str = ""
    call: CallPieces = field(default_factory=CallPieces)
    given: Any = None
    """A tool's input that came whole with the block's start."""


class AnthropicFold:
    """Takes events in order; ``finish`` gives the message, or says that it never ended."""

    def __init__(self, info: ModelInfo) -> None:
        """Begin an answer of a model."""
        self._info = info
        self._blocks: list[_Block] = []
        self._at: dict[int, _Block] = {}
        """The newest block of each index: some servers give all the same."""
        self._usage: dict[str, Any] = {}
        self._stop: str | None = None
        self._why = ""
        self._ended = False

    def feed(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        """Take one event; give what a reader can see of it."""
        match event.get("type"):
            case "message_start":
                self._count(object_in(event, "message"))
            case "content_block_start":
                yield from self._start(event)
            case "content_block_delta":
                yield from self._extend(event.get("index"), object_in(event, "delta"))
            case "message_delta":
                delta = object_in(event, "delta")
                self._stop = delta.get("stop_reason") or self._stop
                details = object_in(delta, "stop_details")
                self._why = details.get("explanation") or details.get("category") or self._why
                self._count(event)
            case "message_stop":
                self._ended = True

    def _start(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        shape = object_in(event, "content_block")
        block = _Block(shape.get("type", ""))
        self._blocks.append(block)
        self._at[event.get("index", len(self._blocks) - 1)] = block
        block.call = CallPieces(shape.get("id") or "", shape.get("name") or "")
        block.given = shape.get("input")
        block.signature = text_in(shape, "signature")
        if block.type == "redacted_thinking":
            block.signature = REDACTED + (text_in(shape, "data"))
        block.text = text_in(shape, "text") or text_in(shape, "thinking")
        if block.text:
            yield Delta("text" if block.type == "text" else "thinking", block.text)

    def _block(self, index: int | None) -> _Block:
        """Return the block of an index, the last one without an index; a text where there is none."""
        if index is None and self._blocks:
            return self._blocks[-1]
        if (index or 0) not in self._at:
            self._at[index or 0] = _Block("text")
            self._blocks.append(self._at[index or 0])
        return self._at[index or 0]

    def _extend(self, index: int | None, delta: Mapping[str, Any]) -> Iterator[Delta]:
        block = self._block(index)
        match delta.get("type"):
            case "text_delta":
                block.text += text_in(delta, "text")
                yield Delta("text", text_in(delta, "text"))
            case "thinking_delta":
                block.text += text_in(delta, "thinking")
                yield Delta("thinking", text_in(delta, "thinking"))
            case "signature_delta":
                block.signature += text_in(delta, "signature")
            case "input_json_delta":
                block.call.arguments += text_in(delta, "partial_json")
                yield Delta("call", text_in(delta, "partial_json"))

    def _count(self, holder: Mapping[str, Any]) -> None:
        """Counts are cumulative: a later one replaces an earlier one."""
        told = holder.get("usage")
        if isinstance(told, Mapping):
            self._usage |= {name: value for name, value in told.items() if value is not None}

    def finish(self, before: Iterable[Message]) -> AssistantMessage:
        """Return the whole message; raises ModelError where the stream ended before it."""
        if not self._ended or self._stop is None:
            raise broken_stream(self._info.id, "the stream ended before its message_stop event")
        stop, word = ended(self._stop, _STOPS, model=self._info.id)
        pieces = (self._piece(block) for block in self._blocks)
        usage = Usage(
            input=count(self._usage, "input_tokens"),
            output=count(self._usage, "output_tokens"),
            cache_read=count(self._usage, "cache_read_input_tokens"),
            cache_write=count(self._usage, "cache_creation_input_tokens"),
        )
        present = [piece for piece in pieces if piece is not None]
        if stop == "refusal" and self._why and not any(isinstance(p, Text) for p in present):
            # Nobody would know why: the reason stands beside the answer, not in it.
            present.append(Text(f"(refused by the provider: {self._why})"))
        return assemble(present, stop, usage, info=self._info, before=before, stop_word=word)

    def _piece(self, block: _Block) -> Piece | None:
        if block.type == "text":
            return Text(block.text)
        if block.type in {"thinking", "redacted_thinking"}:
            return Thinking(block.text, self._info.provider, block.signature or None)
        if block.type == "tool_use":
            if not block.call.arguments and block.given:
                whole = isinstance(block.given, str)
                block.call.arguments = (
                    block.given if whole else json.dumps(block.given, ensure_ascii=False)
                )
            return block.call
        return None
