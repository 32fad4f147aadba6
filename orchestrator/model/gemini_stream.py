"""The chunks of a Gemini stream folded into one message; pure."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orchestrator.model.answer import CallPieces, Piece, assemble
from orchestrator.model.client import Delta, ModelInfo
from orchestrator.model.counts import count
from orchestrator.model.errors import TWICE, Failure, broken_stream, model_error
from orchestrator.model.stops import ended
from orchestrator.schema.message import (
    AssistantMessage,
    Message,
    StopReason,
    Text,
    Thinking,
    Usage,
)

_REFUSALS = (
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MODEL_ARMOR",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
)
_STOPS: Mapping[str, StopReason] = {
    "STOP": "end_turn",
    # Not Google's own word, but its imitators'.
    "FUNCTION_CALL": "tool_use",
    "MAX_TOKENS": "max_tokens",
    "CONTINUATION": "max_tokens",
    **dict.fromkeys(_REFUSALS, "refusal"),
}
"""What else there is, ``stops`` guesses."""
_UNREADABLE = frozenset({"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"})
"""The model made a call that cannot be read; it often makes a better one when it is asked again, once."""

_OURS = frozenset({"MISSING_THOUGHT_SIGNATURE"})
"""The request is at fault, and would be the second time."""


class GeminiFold:
    """Takes chunks in order; ``finish`` gives the message, or says that it never ended."""

    def __init__(self, info: ModelInfo) -> None:
        """Begin an answer of a model."""
        self._info = info
        self._pieces: list[Piece] = []
        self._usage: Mapping[str, Any] = {}
        self._stop: str | None = None
        self._why = ""
        self._blocked = False

    def feed(self, chunk: Mapping[str, Any]) -> Iterator[Delta]:
        """Take one chunk; give what a reader can see of it."""
        self._usage = chunk.get("usage_metadata") or self._usage
        feedback = chunk.get("prompt_feedback") or {}
        if feedback.get("block_reason"):
            self._blocked = True
            self._why = feedback.get("block_reason_message") or _word(feedback["block_reason"])
        for candidate in (chunk.get("candidates") or ())[:1]:
            for part in (candidate.get("content") or {}).get("parts") or ():
                yield from self._take(part)
            if candidate.get("finish_reason"):
                self._stop = _word(candidate["finish_reason"])
                self._why = candidate.get("finish_message") or self._why

    def _take(self, part: Mapping[str, Any]) -> Iterator[Delta]:
        mark = _mark(part.get("thought_signature"))
        call = part.get("function_call")
        if call:
            args = json.dumps(call.get("args") or {}, ensure_ascii=False)
            self._pieces.append(
                CallPieces(call.get("id") or "", call.get("name") or "", args, mark)
            )
            yield Delta("call", args)
        elif part.get("text") or mark:
            yield from self._say(part.get("text") or "", mark, thought=bool(part.get("thought")))

    def _say(self, text: str, mark: str | None, *, thought: bool) -> Iterator[Delta]:
        last = self._pieces[-1] if self._pieces else None
        kind = Thinking if thought or (not text and isinstance(last, Thinking)) else Text
        if isinstance(last, kind) and isinstance(last, Text | Thinking):
            # A mark may come after its text, in a part of its own without any.
            signature, said = mark or last.signature, last.text + text
            self._pieces.pop()
        else:
            signature, said = mark, text
        made = (
            Thinking(said, self._info.provider, signature)
            if kind is Thinking
            else Text(said, signature)
        )
        self._pieces.append(made)
        if text:
            yield Delta("thinking" if kind is Thinking else "text", text)

    def finish(self, before: Iterable[Message]) -> AssistantMessage:
        """Return the whole message; raises ModelError where the stream ended before it."""
        if self._stop is None and not self._blocked:
            raise broken_stream(self._info.id, "the stream ended before its finish reason")
        stop, word = self._ended()
        pieces = list(self._pieces)
        if stop == "refusal" and not any(isinstance(piece, Text) for piece in pieces):
            # Nobody would know why: the reason stands beside the answer, not in it.
            why = self._why or self._stop or "no reason given"
            pieces.append(Text(f"(refused by the provider: {why})"))
        return assemble(
            pieces, stop, self._counts(), info=self._info, before=before, stop_word=word
        )

    def _ended(self) -> tuple[StopReason, str]:
        """Return how the answer ended; raises ModelError where it broke off."""
        if self._stop is None:
            return "refusal", ""
        if self._stop in _OURS | _UNREADABLE:
            why = f"the answer ended with {self._stop}" + (f": {self._why}" if self._why else "")
            kind = "invalid_request_error" if self._stop in _OURS else ""
            raise model_error(self._info.id, Failure(200, kind, message=why), tries=TWICE)
        return ended(self._stop, _STOPS, model=self._info.id, why=self._why)

    def _counts(self) -> Usage:
        cached = count(self._usage, "cached_content_token_count")
        prompt = count(self._usage, "prompt_token_count")
        prompt += count(self._usage, "tool_use_prompt_token_count")
        output = count(self._usage, "candidates_token_count")
        output += count(self._usage, "thoughts_token_count")
        return Usage(max(prompt - cached, 0), output, cached)


def _mark(signature: object) -> str | None:
    """Return a signature's bytes as text that a session's file can hold."""
    if isinstance(signature, bytes) and signature:
        return base64.b64encode(signature).decode("ascii")
    return None


def _word(value: object) -> str:
    """Return the word of an enumeration, whether the SDK knows it or not."""
    return str(getattr(value, "value", value))
