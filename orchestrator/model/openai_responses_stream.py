"""The events of a Responses stream folded into one message; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from orchestrator.model.answer import CallPieces, Piece, assemble
from orchestrator.model.client import Delta, ModelInfo
from orchestrator.model.errors import Failure, broken_stream, model_error
from orchestrator.model.event_shape import list_in, text_in
from orchestrator.model.openai_responses_request import PHASE
from orchestrator.model.openai_usage import usage_from
from orchestrator.model.stops import ended
from orchestrator.schema.message import AssistantMessage, Message, StopReason, Text, Thinking

_SEEN: Mapping[str, str] = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "thinking",
    "response.reasoning_text.delta": "thinking",
}
_ENDS = frozenset({"response.completed", "response.incomplete"})
_CUT: Mapping[str, StopReason] = {
    "max_output_tokens": "max_tokens",
    "max_tokens": "max_tokens",
    "content_filter": "refusal",
    # It stopped at a good place for a reason of its own; sent again it goes on.
    "max_messages": "pause",
    "steered": "pause",
}


class ResponsesFold:
    """Takes events in order; ``finish`` gives the message, or says that it never ended."""

    def __init__(self, info: ModelInfo, *, limit: int | None = None) -> None:
        """Begin an answer of a model, which was given ``limit`` tokens for it."""
        self._info = info
        self._limit = limit
        self._done: list[Mapping[str, Any]] = []
        self._response: Mapping[str, Any] | None = None
        self._cut = False
        self._heard = ""
        """Text as it streamed, for servers that send no items."""

    def feed(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        """Take one event; give what a reader can see of it. Raises ModelError for a failure."""
        kind = event.get("type", "")
        if kind in _SEEN:
            text = text_in(event, "delta")
            self._heard += text if _SEEN[kind] == "text" else ""
            yield Delta("text" if _SEEN[kind] == "text" else "thinking", text)
        elif kind == "response.function_call_arguments.delta":
            yield Delta("call", text_in(event, "delta"))
        elif kind == "response.output_item.done":
            self._done.append(event.get("item") or {})
        elif kind in _ENDS:
            self._response = event.get("response") or {}
            self._cut = kind == "response.incomplete"
        elif kind in {"response.failed", "error"}:
            raise self._failure(event)

    def _failure(self, event: Mapping[str, Any]) -> Exception:
        error = (event.get("response") or {}).get("error") or event.get("error") or event
        message = str(error.get("message") or "the response failed")
        failure = Failure(200, code=str(error.get("code") or ""), message=message)
        return model_error(self._info.id, failure)

    def finish(self, before: Iterable[Message]) -> AssistantMessage:
        """Return the whole message; raises ModelError where the stream ended before it."""
        response = self._response
        if response is None:
            raise broken_stream(self._info.id, "the stream ended before response.completed")
        pieces = [piece for item in self._items(response) for piece in self._pieces(item)]
        if not pieces and self._heard:
            pieces = [Text(self._heard)]
        usage = usage_from(response.get("usage"), side=("input_tokens", "output_tokens"))
        stop, word = self._stop(response, pieces)
        if stop in {"end_turn", "tool_use"} and usage.output == self._limit:
            # llama.cpp calls an answer complete that its limit has cut.
            stop = "max_tokens"
        return assemble(pieces, stop, usage, info=self._info, before=before, stop_word=word)

    def _items(self, response: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Items as they were done are complete; the last event adds what was cut.

        Some servers leave items out of the last event, or give them other ids there.
        """
        final = response.get("output") or []
        if len(self._done) >= len(final):
            return self._done
        done = {item["id"]: item for item in self._done if item.get("id")}
        return [done.get(item.get("id"), item) for item in final]

    def _stop(self, response: Mapping[str, Any], pieces: Iterable[Piece]) -> tuple[StopReason, str]:
        if self._cut or response.get("status") == "incomplete":
            reason = (response.get("incomplete_details") or {}).get("reason") or "unspecified"
            stop, word = ended(reason, _CUT, model=self._info.id)
            # It says itself that something is missing.
            return ("max_tokens" if word and stop != "refusal" else stop), word
        if self._refused(response):
            return "refusal", ""
        calls = any(isinstance(piece, CallPieces) for piece in pieces)
        return "tool_use" if calls else "end_turn", ""

    def _refused(self, response: Mapping[str, Any]) -> bool:
        return any(
            part.get("type") == "refusal"
            for item in self._items(response)
            for part in list_in(item, "content")
            if isinstance(part, Mapping)
        )

    def _pieces(self, item: Mapping[str, Any]) -> Iterator[Piece]:
        match item.get("type"):
            case "message":
                mark = f"{PHASE}{item['phase']}" if item.get("phase") else None
                for part in list_in(item, "content"):
                    yield Text(part.get("text") or part.get("refusal") or "", mark)
            case "function_call":
                yield CallPieces(
                    item.get("call_id") or item.get("id") or "",
                    item.get("name") or "",
                    item.get("arguments") or "",
                )
            case "reasoning":
                yield self._thought(item)

    def _thought(self, item: Mapping[str, Any]) -> Thinking:
        """Keep the item itself as the signature: it goes back as it came, save its status."""
        texts = [part.get("text") or "" for part in list_in(item, "summary")]
        texts = texts or [part.get("text") or "" for part in list_in(item, "content")]
        kept = {key: value for key, value in item.items() if key in _KEPT and value is not None}
        kept.setdefault("summary", [])
        signature = json.dumps(kept) if kept.get("encrypted_content") else None
        return Thinking("\n\n".join(texts), self._info.provider, signature)


_KEPT = frozenset({"type", "id", "summary", "encrypted_content"})
