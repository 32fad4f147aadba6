"""Model turn, tool calls, results, until the model is done or a limit is met.

The loop decides nothing about what may happen (dispatch does) and nothing about where things are
kept (the transcript does). Every message is on disk before it has an effect.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import anyio
import rfc8785

from orchestrator.context.speech import Speech
from orchestrator.dispatch.dispatcher import PartialBatchError
from orchestrator.dispatch.judge import NeedsApprovalError
from orchestrator.dispatch.output import OutputFilter
from orchestrator.dispatch.records import AuditSink
from orchestrator.loop.limits import Limits, Pace, Reached, Repetition, reached
from orchestrator.loop.progress import Beside, Progress, nothing_beside
from orchestrator.loop.turn import cost_of, tidy
from orchestrator.model.client import ModelClient, Prompt
from orchestrator.redaction.stream import RedactingStream
from orchestrator.schema.codec import encode_message, encode_usage
from orchestrator.schema.event import (
    ErrorRaised,
    LimitReached,
    MessageDelta,
    MessageEnd,
    Observer,
    RunStatus,
    TurnEnd,
    TurnStart,
)
from orchestrator.schema.ids import digest_of
from orchestrator.schema.message import (
    AssistantMessage,
    Message,
    Text,
    ToolCall,
    ToolMessage,
    ToolResult,
    Usage,
    UserMessage,
)

CUT_CALL = (
    "Not run: the answer was cut at the output limit before this call was complete. "
    "Send it again in smaller pieces."
)
CUT_TEXT = "Your answer was cut at the output limit. Go on exactly where it stopped, more briefly."
NOT_FINISHED = "Not run: the answer that asked for it was broken off."
NO_TOOLS = "Not run: the run has reached its limit."
UNFINISHED = frozenset({"refusal", "aborted"})
"""Ends of an answer that its provider did not finish: what it asks for may be a part."""
INTERRUPTED = (
    "Interrupted before it ended; it may or may not have taken effect. Check before you repeat it."
)
CONCLUDE = (
    "The run has reached its limit ({kind}). No tools are left. Say briefly what is done, what is "
    "not, and what should be done next."
)
DELTA_KINDS: tuple[Literal["text", "thinking"], ...] = ("text", "thinking")
CONCLUSION_GRACE_S = 120.0
"""Seconds the conclusion may take after the wall time is over."""


class Transcript(Protocol):
    """The conversation on disk."""

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation along the current path, fit to send."""
        ...

    def add(self, message: Message) -> None:
        """Append a message and return when it is on disk."""
        ...

    def hold(self, calls: Sequence[ToolCall]) -> None:
        """Note on disk that calls of the last answer wait for a person; none of them has run."""
        ...

    def take_up(self) -> tuple[ToolCall, ...]:
        """Return the calls that wait, once: from here on they may have run."""
        ...


class ToolRunner(Protocol):
    """Runs a turn's calls; ``dispatch.Dispatcher`` is the real one."""

    async def dispatch(self, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        """Return one result a call, in order."""
        ...


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended."""

    status: RunStatus
    answer: str
    turns: int
    usage: Usage
    cost_usd: float | None
    limit: Reached | None = None
    waiting_for: NeedsApprovalError | None = None


class AgentLoop:
    """One run of one conversation."""

    def __init__(
        self,
        model: ModelClient,
        runner: ToolRunner,
        transcript: Transcript,
        *,
        audit: AuditSink,
        speech: Speech,
        limits: Limits,
        output: OutputFilter,
        observe: Observer,
        beside: Callable[[], Beside] = nothing_beside,
    ) -> None:
        """``output`` keeps secrets out of the transcript and of what observers see.

        ``beside`` says what programs in the box have used so far.
        """
        self._model = model
        self._runner = runner
        self._transcript = transcript
        self._audit = audit
        self._speech = speech
        self._limits = limits
        self._output = output
        self._observe = observe
        self._beside = beside
        self._repetition = Repetition(limits.repeat)
        self._pace = Pace(limits.tool_calls_per_minute)

    async def run(self) -> RunResult:
        """Go on from where the transcript ends; cancelling leaves it fit to resume.

        Calls that waited for a person's answer come first: what was said yes to is what runs.
        """
        progress = Progress(self._beside)
        held = self._transcript.take_up()
        while True:
            limit = self._limit(progress)
            if limit is not None:
                return await self._conclude(progress, limit)
            left = self._seconds_left(progress)
            with anyio.move_on_after(left):
                try:
                    if held:
                        calls, held = held, ()
                        await self._call_tools(calls)
                        continue
                    ended = await self._turn(progress)
                except PartialBatchError as partial:
                    return self._hold(progress, partial)
                if ended is not None:
                    return ended

    def _hold(self, progress: Progress, partial: PartialBatchError) -> RunResult:
        """Keep what has run and what waits, and end resumably."""
        if partial.results:
            self._transcript.add(ToolMessage(partial.results))
        self._transcript.hold(partial.waiting)
        return self._result(progress, "needs_approval", "", waiting=partial.stop)

    def _limit(self, progress: Progress) -> Reached | None:
        if progress.circling:
            return Reached("repetition", self._limits.repeat)
        return reached(self._limits, progress.spent())

    def _seconds_left(self, progress: Progress) -> float | None:
        if self._limits.wall_time_s is None:
            return None
        return max(self._limits.wall_time_s - progress.spent().seconds, 0.01)

    async def _turn(self, progress: Progress) -> RunResult | None:
        """Run one turn; None when another is to follow."""
        progress.turns += 1
        self._observe(TurnStart(progress.turns))
        message = await self._ask(
            progress,
            Prompt(
                self._speech.system,
                self._transcript.messages(),
                self._speech.tools,
                thinking=self._speech.thinking,
            ),
        )
        if message.stop_reason == "max_tokens":
            ended = self._recover_cut(progress, message)
        elif message.stop_reason in UNFINISHED:
            self._close(message.tool_calls, NOT_FINISHED)
            ended = self._result(progress, "failed", message.text)
        elif message.tool_calls:
            ended, progress.cuts = None, 0
            await self._call_tools(message.tool_calls)
            progress.circling = self._circling(message.tool_calls)
        else:
            ended = self._result(progress, _status_of(message), message.text)
        if ended is not None and ended.status == "failed":
            why = f"the model's answer ended with {message.stop_reason}"
            self._observe(ErrorRaised("model", why, "go on with --resume, or try another model"))
        self._observe(
            TurnEnd(
                turn=progress.turns,
                stop_reason=message.stop_reason,
                usage=encode_usage(message.usage),
                cumulative_tokens=progress.usage.total,
            )
        )
        return ended

    async def _ask(self, progress: Progress, prompt: Prompt) -> AssistantMessage:
        """Return the model's message once it is on disk and in the audit."""
        streams = {kind: self._stream_of(kind) for kind in DELTA_KINDS}
        reply = await self._model.complete(prompt, on_delta=lambda d: streams[d.kind].feed(d.text))
        for stream in streams.values():
            stream.flush()
        message = tidy(reply, prompt.messages)
        progress.usage += message.usage
        progress.add_cost(cost_of(message.usage, self._model.info))
        stored = self._output.scrub_message(message)
        self._transcript.add(stored)
        self._audit.append(
            "model_call",
            {
                "model": self._model.info.id,
                "purpose": prompt.purpose,
                "stop_reason": message.stop_reason,
                "usage": encode_usage(message.usage),
                "message_digest": digest_of(rfc8785.dumps(encode_message(stored))),
                "calls": [call.id for call in message.tool_calls],
            },
        )
        self._observe(MessageEnd(encode_message(stored)))
        return message

    def _stream_of(self, kind: Literal["text", "thinking"]) -> RedactingStream:
        return self._output.stream(lambda text: self._observe(MessageDelta(kind, text)))

    def _recover_cut(self, progress: Progress, message: AssistantMessage) -> RunResult | None:
        """Answer a cut message once in a row; a second cut ends the run as failed."""
        progress.cuts += 1
        self._close(message.tool_calls, CUT_CALL)
        if progress.cuts > 1:
            return self._result(progress, "failed", message.text)
        if not message.tool_calls:
            self._transcript.add(UserMessage((Text(CUT_TEXT),)))
        return None

    def _close(self, calls: tuple[ToolCall, ...], why: str) -> None:
        """Give each call a result that says why there is none."""
        if calls:
            told = tuple(ToolResult(c.id, c.name, why, is_error=True) for c in calls)
            self._transcript.add(self._output.scrub_message(ToolMessage(told)))

    async def _call_tools(self, calls: tuple[ToolCall, ...]) -> None:
        try:
            await anyio.sleep(sum(self._pace.wait_s(time.monotonic()) for _ in calls))
            results = await self._runner.dispatch(calls)
        except anyio.get_cancelled_exc_class():
            self._close(calls, INTERRUPTED)
            raise
        self._transcript.add(ToolMessage(results))
        self._last = results

    def _circling(self, calls: tuple[ToolCall, ...]) -> bool:
        call = digest_of(repr([(c.name, c.raw_arguments) for c in calls]).encode())
        result = digest_of(repr([(r.output, r.is_error) for r in self._last]).encode())
        return self._repetition.note(call, result)

    async def _conclude(self, progress: Progress, limit: Reached) -> RunResult:
        """Ask once for a conclusion without tools, and end."""
        self._observe(LimitReached(limit.kind, limit.value))
        self._audit.append("limit", {"kind": limit.kind, "value": str(limit.value)})
        self._transcript.add(UserMessage((Text(CONCLUDE.format(kind=limit.kind)),)))
        prompt = Prompt(self._speech.system, self._transcript.messages(), (), purpose="conclusion")
        answer = ""
        with anyio.move_on_after(CONCLUSION_GRACE_S):
            message = await self._ask(progress, prompt)
            self._close(message.tool_calls, NO_TOOLS)
            answer = message.text
        return self._result(progress, "limit", answer, limit=limit)

    def _result(
        self,
        progress: Progress,
        status: RunStatus,
        answer: str,
        *,
        limit: Reached | None = None,
        waiting: NeedsApprovalError | None = None,
    ) -> RunResult:
        usage, cost_usd = progress.total()
        return RunResult(
            status=status,
            answer=self._output.scrub(answer),
            turns=progress.turns,
            usage=usage,
            cost_usd=cost_usd,
            limit=limit,
            waiting_for=waiting,
        )


def _status_of(message: AssistantMessage) -> RunStatus:
    return "done" if message.stop_reason == "end_turn" else "failed"
