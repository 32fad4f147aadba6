"""One model call: streamed, put in order, on disk and in the audit before anything follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import rfc8785

from orchestrator.context.sizes import FixedTokens
from orchestrator.context.view import FIXED
from orchestrator.dispatch.output import OutputFilter
from orchestrator.dispatch.records import AuditSink
from orchestrator.loop.seams import Transcript
from orchestrator.loop.turn import KnownCalls, tidy
from orchestrator.model.client import Delta, ModelClient, ModelInfo, Prompt
from orchestrator.model.prices import cost_of, saved_of
from orchestrator.model.reckoning import broken_off
from orchestrator.model.stops import fills_window
from orchestrator.redaction.stream import RedactingStream
from orchestrator.schema.codec import encode_message, encode_usage
from orchestrator.schema.event import ErrorRaised, MessageDelta, MessageEnd, Observer
from orchestrator.schema.ids import digest_of
from orchestrator.schema.message import AssistantMessage, Text, Usage

Count = Callable[[Usage, float | None], None]
"""Takes what a call used and cost; None where the cost is not known."""


class Asking:
    """Asks for one session."""

    def __init__(
        self,
        model: ModelClient,
        transcript: Transcript,
        *,
        audit: AuditSink,
        output: OutputFilter,
        observe: Observer,
        count: Count,
    ) -> None:
        """``output`` keeps secrets out of the transcript and of what observers see."""
        self._model = model
        self._transcript = transcript
        self._audit = audit
        self._output = output
        self._observe = observe
        self._count = count
        self._known = KnownCalls()
        self._fixed = FixedTokens()

    async def ask(self, prompt: Prompt, facts: Mapping[str, Any]) -> AssistantMessage:
        """Return the answer once it is counted and stored, with ``facts`` beside it.

        Where it is broken off, what was said up to then is stored as an answer that was aborted;
        what it used is reckoned, thoughts too, as the provider did not come to say it.
        """
        heard = _Heard(self._output, self._observe)
        try:
            reply = await self._model.complete(prompt, on_delta=heard.feed)
        except anyio.get_cancelled_exc_class():
            if heard.begun:
                self._store(heard.aborted(prompt, self._model.info), prompt, facts)
            raise
        heard.flush()
        word = self._output.scrub(reply.stop_word)
        message = tidy(replace(reply, stop_word=word), self._known.of(prompt.messages))
        self._store(message, prompt, facts)
        return message

    def _store(self, message: AssistantMessage, prompt: Prompt, facts: Mapping[str, Any]) -> None:
        cost_usd = cost_of(message.usage, self._model.info)
        self._count(message.usage, cost_usd)
        stored = self._output.scrub_message(message)
        saved_usd = saved_of(message.usage, self._model.info)
        fixed = {FIXED: self._fixed.of(prompt.system, prompt.tools)}
        self._transcript.add(stored, cost_usd=cost_usd, saved_usd=saved_usd, **fixed, **facts)
        encoded = encode_message(stored)
        word = message.stop_word
        self._audit.append(
            "model_call",
            {
                "model": self._model.info.id,
                "purpose": prompt.purpose,
                "stop_reason": message.stop_reason,
                **({"stop_word": word} if word else {}),
                "usage": encode_usage(message.usage),
                "message_digest": digest_of(rfc8785.dumps(encoded)),
                "calls": [call.id for call in message.tool_calls],
            },
        )
        self._observe(MessageEnd(encoded))
        if word and not fills_window(word):
            told = f"the answer ended with {word!r}, a word that is not known"
            hint = f"it was taken for {message.stop_reason}"
            self._observe(ErrorRaised("model", told, hint))


@dataclass(slots=True)
class _Heard:
    """What came so far of one answer; a retry makes it void."""

    output: OutputFilter
    observe: Observer
    pieces: list[str] = field(default_factory=list)
    unsaid: list[str] = field(default_factory=list)
    """Thoughts and calls."""
    streams: dict[str, RedactingStream] = field(default_factory=dict)

    @property
    def begun(self) -> bool:
        """Say whether anything came, so that the prompt is billed."""
        return bool(self.pieces or self.unsaid)

    def aborted(self, prompt: Prompt, info: ModelInfo) -> AssistantMessage:
        """Return what was said up to now as an answer; half a thought or call only counts."""
        text = "".join(self.pieces)
        used = broken_off(prompt, (text, *self.unsaid), info)
        return AssistantMessage((Text(text),) if text.strip() else (), "aborted", used, info.id)

    def feed(self, delta: Delta) -> None:
        if delta.kind == "void":
            self.pieces, self.unsaid, self.streams = [], [], {}
            return
        (self.pieces if delta.kind == "text" else self.unsaid).append(delta.text)
        if delta.kind == "call":
            return
        kind = delta.kind
        if kind not in self.streams:
            self.streams[kind] = self.output.stream(
                lambda text: self.observe(MessageDelta(kind, text))
            )
        self.streams[kind].feed(delta.text)

    def flush(self) -> None:
        for stream in self.streams.values():
            stream.flush()
