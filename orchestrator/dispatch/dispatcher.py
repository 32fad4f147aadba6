"""The one corridor from a tool call to its effect.

plan → resolve → judge → record the intent → execute → redact → record the outcome. Nothing else
in the program calls ``Executor.execute`` for a model. If the intent cannot be written, the call
does not happen.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio

from orchestrator.dispatch.batch import INTERRUPTED, WAITS, Keep, forget, run_batch
from orchestrator.dispatch.execs import Execs, hearing
from orchestrator.dispatch.judge import Judge, NeedsApprovalError, refusal_text
from orchestrator.dispatch.output import OutputFilter
from orchestrator.dispatch.processes import Processes
from orchestrator.dispatch.records import AuditSink, intent_body, outcome_body, refusal_body
from orchestrator.dispatch.result_room import ResultRoom, RoomLeft, unbounded
from orchestrator.errors import BoxError
from orchestrator.sandbox.driver import Executor, PathRefusedError
from orchestrator.schema.event import Observer, ToolEnd, ToolStart, ToolUpdate
from orchestrator.schema.message import ToolCall, ToolResult
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.request import (
    ExecRequest,
    FileRequest,
    ProcessRequest,
    Request,
    file_access,
    request_subject,
)
from orchestrator.tools.plain import plain_content
from orchestrator.tools.tool import ArgumentError, Rendered, Tool, ToolContext

NO_OBJECT = "The arguments are not a JSON object, or are nested too deep; send them again whole."
PLACEHOLDER = (
    "The command holds {}, which stands for a secret and would run as that text. Let the command "
    "read the secret from its file, or leave it out."
)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A call that may run."""

    call: ToolCall
    tool: Tool
    request: Request


class Dispatcher:
    """Runs a turn's calls; results come back in the order of the calls."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        executor: Executor,
        judge: Judge,
        *,
        audit: AuditSink,
        context: ToolContext,
        output: OutputFilter,
        observe: Observer,
        execs: Execs,
        room: RoomLeft = unbounded,
        parallel: bool = True,
    ) -> None:
        """``tools`` by name; everything a call may touch goes through ``executor``.

        ``room`` tells what the results of a turn may have; ``parallel`` lets its calls run side by
        side.
        """
        self._room = room
        self._parallel = parallel
        self._execs = execs
        self._tools = tools
        self._executor = executor
        self._judge = judge
        self._audit = audit
        self._context = context
        self._output = output
        self._processes = Processes(output)
        self._observe = observe

    async def dispatch(
        self, calls: Sequence[ToolCall], *, keep: Keep = forget
    ) -> tuple[ToolResult, ...]:
        """Run the calls, side by side where none of them is of a kind that must be alone.

        ``keep`` hears each result as it comes, also of calls that are broken off. Raises
        PartialBatchError, with the calls that have not run, at an ask nobody can answer.
        """
        room = ResultRoom.shared(self._room(), len(calls))
        planned = [self._plan(call, room) for call in calls]

        async def one(at: int) -> ToolResult:
            result = await self._one(calls[at], planned[at], room=room, keep=keep)
            keep(result)
            return result

        parallel = self._parallel and all(_beside_others(item) for item in planned)
        return await run_batch(calls, one, side_by_side=parallel, keep=keep)

    async def _one(
        self, call: ToolCall, planned: Request | ToolResult, *, room: ResultRoom, keep: Keep
    ) -> ToolResult:
        """Return the result of one call; whatever happens to it, its end is told."""
        started = time.perf_counter()
        name, arguments = self._output.scrub(call.name), self._output.scrub_data(call.arguments)
        self._observe(ToolStart(call=call.id, name=name, arguments=arguments))
        try:
            ready = planned if isinstance(planned, ToolResult) else await self._clear(call, planned)
            if not isinstance(ready, ToolResult):
                return await self._execute(ready, started, room)
        except NeedsApprovalError:
            waits = ToolResult(call.id, name, WAITS, is_error=True)
            self._end(waits, {"waiting": True}, started)
            raise
        except BaseException:
            broken = ToolResult(call.id, name, INTERRUPTED, is_error=True)
            keep(broken)
            self._end(broken, {"interrupted": True}, started)
            raise
        self._end(ready, {}, started)
        return ready

    def _plan(self, call: ToolCall, room: ResultRoom) -> Request | ToolResult:
        """Return the request, or a result that tells the model what is wrong with its call."""
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(sorted(self._tools))
            return self._refuse(call, f"There is no tool {call.name!r}. The tools are: {known}.")
        if call.arguments is None:
            return self._refuse(call, NO_OBJECT)
        try:
            return room.narrowed(tool.plan(call.arguments, self._context))
        except ArgumentError as error:
            return self._refuse(call, str(error))

    async def _clear(self, call: ToolCall, request: Request) -> _Ready | ToolResult:
        """Return the call cleared to run, or the refusal as a result."""
        if isinstance(request, ProcessRequest):
            prepared = self._processes.prepare(request)
            if isinstance(prepared, str):
                return self._refuse(call, prepared, request=request)
            request = prepared
        if isinstance(request, FileRequest):
            landed = await self._land(call, request)
            if isinstance(landed, ToolResult):
                return landed
            request = landed
        else:
            held = self._output.placeholders_in(request_subject(request))
            if held:
                return self._refuse(call, PLACEHOLDER.format(", ".join(held)), request=request)
        verdict = await self._judge.judge(call, request)
        if not verdict.allowed:
            body = refusal_body(
                call,
                verdict.decision.reason,
                request=request,
                decision=verdict.decision,
                answer=verdict.answer,
            )
            self._audit.append("refused", self._output.scrub_data(body))
            return self._result(call, Rendered(refusal_text(verdict), is_error=True))
        body = intent_body(call, request, verdict.decision, answer=verdict.answer)
        self._audit.append("intent", self._output.scrub_data(body))
        self._processes.begin(request, opaque="opaque" in verdict.decision.risks)
        return _Ready(call, self._tools[call.name], request)

    async def _land(self, call: ToolCall, request: FileRequest) -> FileRequest | ToolResult:
        """Return the request with where its path lands and with restored placeholders."""
        try:
            landed = await self._executor.resolve(request)
        except PathRefusedError as error:
            return self._refuse(call, str(error), request=request)
        request = replace(request, resolved=landed)
        if file_access(request) == "read":
            return request
        restored, problem = self._output.restore(request, landed)
        return self._refuse(call, problem, request=request) if problem else restored

    async def _execute(self, ready: _Ready, started: float, room: ResultRoom) -> ToolResult:
        call, request = ready.call, ready.request
        stream = self._output.stream(lambda text: self._observe(ToolUpdate(call.id, text)))
        watched = self._execs.watch(call, request)
        try:
            outcome = await self._executor.execute(
                request, on_output=stream.feed, on_execs=hearing(watched)
            )
        except anyio.get_cancelled_exc_class():
            self._audit.append("outcome", {"call": call.id, "tool": call.name, "cancelled": True})
            raise
        except BoxError as error:
            body = {"call": call.id, "tool": call.name, "box": error.message}
            self._audit.append("outcome", self._output.scrub_data(body))
            raise
        stream.flush()
        outcome = self._processes.settle(request, outcome)
        rendered = self._render(ready, outcome)
        if watched is not None and watched.ended_for:
            rendered = replace(rendered, output=_with_cause(rendered.output, watched.ended_for))
        result = self._result(call, replace(rendered, output=room.fitted(rendered.output)))
        duration_ms = (time.perf_counter() - started) * 1000
        execs = watched.settle() if watched is not None else None
        body = outcome_body(result, duration_ms=duration_ms, data=outcome.data, execs=execs)
        self._audit.append("outcome", self._output.scrub_data(body))
        self._end(result, self._output.scrub_data(rendered.details), started)
        return result

    def _render(self, ready: _Ready, outcome: Outcome) -> Rendered:
        rendered = ready.tool.render(ready.request, outcome)
        return replace(rendered, output=self._output.scrub_result(ready.request, rendered.output))

    def _refuse(self, call: ToolCall, reason: str, *, request: Request | None = None) -> ToolResult:
        """Record a call that cannot run as asked, and tell the model why."""
        body = refusal_body(call, reason, request=request, decision=None, answer=None)
        self._audit.append("refused", self._output.scrub_data(body))
        return self._result(call, Rendered(reason, is_error=True))

    def _result(self, call: ToolCall, rendered: Rendered) -> ToolResult:
        name, output = self._output.scrub(call.name), self._output.scrub(rendered.output)
        text = output or "(no output)"
        return ToolResult(call.id, name, text, rendered.is_error, rendered.images)

    def _end(self, result: ToolResult, details: Mapping[str, Any], started: float) -> None:
        self._observe(
            ToolEnd(
                call=result.call,
                name=result.name,
                is_error=result.is_error,
                output=result.output,
                details=details,
                duration_ms=round((time.perf_counter() - started) * 1000, 1),
            )
        )


def _with_cause(output: str, ended_for: str) -> str:
    return f"{output}\n[what it started: {plain_content(ended_for)}]"


def _beside_others(planned: Request | ToolResult) -> bool:
    """Say whether a call may run while others do: what writes files or types waits its turn."""
    if isinstance(planned, FileRequest):
        return file_access(planned) == "read"
    return isinstance(planned, ToolResult | ExecRequest)
