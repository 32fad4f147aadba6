"""Model turn, tool calls, results, until the model is done or a limit is met.

The loop decides nothing about what may happen (dispatch does) and nothing about where things are
kept (the transcript does). Every message is on disk before it has an effect. docs/loop.md draws
the states; ``loop.states`` holds a run to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.context.speech import Speech
from orchestrator.dispatch.batch import PartialBatchError
from orchestrator.dispatch.judge import NeedsApprovalError
from orchestrator.dispatch.output import OutputFilter
from orchestrator.dispatch.records import AuditSink
from orchestrator.errors import ContextError, ModelError
from orchestrator.loop.around import Around
from orchestrator.loop.asking import Asking
from orchestrator.loop.calls import Calls
from orchestrator.loop.circles import Circles, round_of
from orchestrator.loop.limits import Limits, Pace, Reached, Warnings, reached
from orchestrator.loop.mending import mend, shrink
from orchestrator.loop.one_run import OneRun
from orchestrator.loop.progress import Progress
from orchestrator.loop.seams import ToolRunner, Transcript
from orchestrator.loop.words import (
    CONCLUDE,
    CUT_CALL,
    CUT_TEXT,
    NO_TOOLS,
    NOT_FINISHED,
    NOTHING_SAID,
    NUDGE,
    say,
    something_to_answer,
)
from orchestrator.model.client import ModelClient, Prompt
from orchestrator.model.stops import fills_window
from orchestrator.schema.codec import encode_usage
from orchestrator.schema.event import (
    ErrorRaised,
    LimitReached,
    Observer,
    RunStatus,
    TurnEnd,
    TurnStart,
)
from orchestrator.schema.message import (
    AssistantMessage,
    Text,
    ToolCall,
    Usage,
    UserMessage,
)

UNFINISHED = frozenset({"refusal", "aborted"})
"""Ends of an answer that its provider did not finish: what it asks for may be a part."""
MOST_PAUSES = 8
"""Answers in a row that a provider may break off for its own reasons."""
CONCLUSION_GRACE_S = 120.0
"""Seconds the conclusion may take after the wall time is over."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended; usage and cost are what was used since the last result."""

    status: RunStatus
    answer: str
    turns: int
    usage: Usage
    cost_usd: float | None
    limit: Reached | None = None
    waiting_for: NeedsApprovalError | None = None


class AgentLoop:
    """One conversation; each run goes on until the model has settled on what was said."""

    def __init__(
        self,
        model: ModelClient,
        runner: ToolRunner,
        transcript: Transcript,
        *,
        audit: AuditSink,
        speech: Callable[[], Speech],
        limits: Limits,
        output: OutputFilter,
        observe: Observer,
        around: Around[Any],
    ) -> None:
        """``output`` keeps secrets out of the transcript and of what observers see."""
        self._model = model
        self._transcript = transcript
        self._audit = audit
        self._speech = speech
        self._limits = limits
        self._output = output
        self._observe = observe
        self._around = around
        pace = Pace(limits.tool_calls_per_minute)
        self._calls = Calls(runner, transcript, output=output, observe=observe, pace=pace)
        self._warnings = Warnings()
        self.progress = Progress(
            around.beside, around.clock.seconds, around.today, around.cost_before_usd
        )
        self._asking = Asking(
            model,
            transcript,
            audit=audit,
            output=output,
            observe=observe,
            count=self.progress.add,
        )
        self.ways: set[tuple[str, str]] = set()
        """The transitions that the runs so far have taken."""

    async def run(self) -> RunResult:
        """Go on from where the transcript ends; cancelling leaves it fit to send.

        Calls that waited for a person's answer come first: what was said yes to is what runs.
        Raises what a turn cannot go on without: ModelError, ContextError, BoxError and their kin.
        """
        run = OneRun(Circles(self._limits.repeat))
        self.progress.begin_run()
        self._warnings.begin_run()
        try:
            return await self._run(run)
        finally:
            self.progress.is_running = False
            run.course.to("end")
            self.ways |= run.course.ways

    async def _run(self, run: OneRun) -> RunResult:
        held = self._transcript.take_up()
        try:
            if held:
                run.course.to("act")
                run.begun = True
                with self._allowed():
                    await self._calls.run(held)
            else:
                run.said = something_to_answer(self._transcript.messages())
            while True:
                self._tell(run)
                limit = self._check(run)
                if limit is not None:
                    return await self._conclude(run, limit)
                with self._allowed():
                    ended = await self._turn(run)
                    if ended is not None:
                        return ended
        except PartialBatchError as partial:
            return self._result("needs_approval", "", waiting=partial.stop)

    def _allowed(self) -> Any:
        """Return the scope of what is broken off when the wall time is over."""
        limit = self._limits.wall_time_s
        left = None if limit is None else max(limit - self.progress.spent().seconds, 0.01)
        return self._around.clock.allow(left)

    def _tell(self, run: OneRun) -> None:
        """Have on disk what the model is told before its next turn."""
        run.course.to("tell")
        for message in (*run.said, *self._around.queue.steering()):
            self._transcript.add(self._output.scrub_message(message))
        run.said = ()

    def _check(self, run: OneRun) -> Reached | None:
        run.course.to("check")
        spent = self.progress.spent()
        limits = replace(self._limits, skill_tokens=self._around.skill_tokens())
        for warning in self._warnings.due(limits, spent):
            self._observe(warning)
        return run.limit or reached(limits, spent)

    async def _turn(self, run: OneRun) -> RunResult | None:
        """Run one turn; None when another is to follow."""
        run.begun = True
        self.progress.turns += 1
        self._observe(TurnStart(self.progress.turns))
        stop_reason, usage = "aborted", Usage()
        try:
            message = await self._answer(run)
            stop_reason, usage = message.stop_reason, message.usage
            return await self._follow(run, message)
        except (ModelError, ContextError):
            stop_reason = "error"
            raise
        finally:
            self._observe(
                TurnEnd(
                    turn=self.progress.turns,
                    stop_reason=stop_reason,
                    usage=encode_usage(usage),
                    cumulative_tokens=self.progress.usage.total,
                )
            )

    async def _answer(self, run: OneRun) -> AssistantMessage:
        """Return the model's answer; a request that was refused is mended where it can be."""
        while True:
            speech = self._speech()
            run.course.to("request")
            prompt = await self._around.context.request(speech)
            run.course.to("ask")
            try:
                message = await self._ask(prompt, speech)
            except ModelError as error:
                context, speech = self._around.context, self._speech()
                if not await mend(error, run, context=context, speech=speech):
                    raise
                continue
            if message.stop_reason != "max_tokens":
                run.shrunk = False
            return message

    async def _ask(self, prompt: Prompt, speech: Speech) -> AssistantMessage:
        facts = {"turn": self.progress.turns, "skill": speech.skill}
        return await self._asking.ask(prompt, facts)

    async def _follow(self, run: OneRun, message: AssistantMessage) -> RunResult | None:
        """Do what the answer asks for; None when another turn is to follow."""
        reason = message.stop_reason
        if reason == "max_tokens":
            return await self._recover_cut(run, message)
        if reason == "pause":
            return self._recover_pause(run, message)
        run.hear(message)
        if reason in UNFINISHED:
            self._calls.close(message.tool_calls, NOT_FINISHED)
            return self._failed(message)
        if message.tool_calls:
            await self._act(run, message.tool_calls)
            return None
        if reason != "end_turn":
            return self._failed(message)
        return self._settle(run, message)

    async def _act(self, run: OneRun, calls: tuple[ToolCall, ...]) -> None:
        """Run the calls; a run that goes in circles is told so once, and then ended."""
        run.course.to("act")
        results = await self._calls.run(calls)
        verdict, what = run.circles.judge(round_of(calls, results))
        if verdict == "nudge":
            run.said = say(NUDGE.format(what=what))
        elif verdict == "stop":
            run.limit = Reached("repetition", self._limits.repeat)

    def _settle(self, run: OneRun, message: AssistantMessage) -> RunResult | None:
        """Go on with what the person said meanwhile; without it the run is done.

        An answer of nothing is no end that anybody could rely on: the model is asked once more.
        """
        if run.empties:
            if run.empties > 1:
                return self._failed(message, "the model answered with nothing, twice in a row")
            run.said = self._around.queue.steering() or say(NOTHING_SAID)
            return None
        run.course.to("settle")
        queue = self._around.queue
        run.said = queue.steering() or queue.follow_ups()
        return None if run.said else self._result("done", message.text)

    async def _recover_cut(self, run: OneRun, message: AssistantMessage) -> RunResult | None:
        """Answer a cut message once in a row; a second cut ends the run as failed.

        One that was cut because the window is full can only go on in a shorter conversation.
        """
        run.cuts += 1
        self._calls.close(message.tool_calls, CUT_CALL)
        if run.cuts > 1:
            return self._failed(message)
        if self._is_full(message) and not await shrink(run, self._around.context, self._speech()):
            return self._failed(message)
        run.shrunk = False
        if not message.tool_calls:
            run.said = say(CUT_TEXT)
        return None

    def _is_full(self, message: AssistantMessage) -> bool:
        info, usage = self._model.info, message.usage
        if fills_window(message.stop_word):
            return True
        return usage.total >= info.context_window and usage.output < info.max_output

    def _recover_pause(self, run: OneRun, message: AssistantMessage) -> RunResult | None:
        """Send the same again, so that the provider goes on; not for ever."""
        run.pauses += 1
        self._calls.close(message.tool_calls, NOT_FINISHED)
        return self._failed(message) if run.pauses > MOST_PAUSES else None

    def _failed(self, message: AssistantMessage, why: str = "") -> RunResult:
        why = why or f"the model's answer ended with {message.stop_reason}"
        self._observe(ErrorRaised("model", why, "go on with --resume, or try another model"))
        return self._result("failed", message.text)

    async def _conclude(self, run: OneRun, limit: Reached) -> RunResult:
        """Ask once for a conclusion without tools, and end.

        A run that was over its limit before it began has nothing to conclude, and asks for nothing.
        """
        self._observe(LimitReached(limit.kind, limit.value, limit.over))
        self._audit.append("limit", limit.facts)
        if not run.begun:
            return self._result("limit", "", limit=limit)
        run.course.to("conclude")
        self._transcript.add(UserMessage((Text(CONCLUDE.format(kind=limit.kind)),)))
        answer = ""
        with self._around.clock.allow(CONCLUSION_GRACE_S):
            try:
                message = await self._conclusion()
            except (ModelError, ContextError) as error:
                self._observe(ErrorRaised("conclusion", error.message, error.hint))
            else:
                self._calls.close(message.tool_calls, NO_TOOLS)
                answer = message.text
        return self._result("limit", answer, limit=limit)

    async def _conclusion(self) -> AssistantMessage:
        speech = self._speech()
        prompt = await self._around.context.request(speech)
        return await self._ask(replace(prompt, tools=(), purpose="conclusion"), speech)

    def _result(
        self,
        status: RunStatus,
        answer: str,
        *,
        limit: Reached | None = None,
        waiting: NeedsApprovalError | None = None,
    ) -> RunResult:
        turns, usage, cost_usd = self.progress.untold()
        answer = self._output.scrub(answer)
        return RunResult(status, answer, turns, usage, cost_usd, limit=limit, waiting_for=waiting)
