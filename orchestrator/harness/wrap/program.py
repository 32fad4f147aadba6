"""The program that is wrapped: judged as a command is, recorded before it starts, watched, ended."""

from __future__ import annotations

import secrets
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from orchestrator.dispatch.judge import Verdict, refusal_text
from orchestrator.dispatch.records import intent_body, refusal_body
from orchestrator.errors import BoxError
from orchestrator.harness.box_spec import WORKDIR
from orchestrator.harness.ground import Ground
from orchestrator.harness.person import Person
from orchestrator.harness.wrap.pipes import Pipes
from orchestrator.harness.wrap.seat import Left, Seat
from orchestrator.harness.wrap.watching import Watching
from orchestrator.sandbox.driver import BoxStream, StreamRefusedError
from orchestrator.schema.event import ToolEnd, ToolStart
from orchestrator.schema.ids import CallId
from orchestrator.schema.message import ToolCall
from orchestrator.schema.request import ExecRequest
from orchestrator.schema.stream import ProgramTarget, StreamEnd

TOOL = "wrap"
"""The name that policies know a wrapped program by: ``tools: {wrap: deny}``."""


class NotAllowedError(Exception):
    """Raised where policy, or a person, does not let the program start; the text is raw."""


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How it ended."""

    left: Left
    end: StreamEnd
    ended_for: str = ""
    """What it started that policy had it ended for; raw, empty where it was not."""


class Program:
    """One program of a session, from the question whether it may start to the record of its end."""

    def __init__(
        self, ground: Ground, argv: Sequence[str], *, seconds: float, watching: Watching
    ) -> None:
        """``seconds`` is the time that it is given, which who runs it sees to."""
        self._ground = ground
        self._argv = tuple(argv)
        command = shlex.join(argv)
        self._request = ExecRequest(command, WORKDIR, seconds)
        self._call = ToolCall(
            CallId(f"wrap-{secrets.token_hex(4)}"), TOOL, command, {"command": command}
        )
        self._watching = watching
        self._pipes: Pipes | None = None
        self._began = 0.0
        self.started = False
        """Policy let it start."""

    async def run(self, seat: Seat) -> ProgramEnd:
        """Have it judged, start it and carry its bytes until it ends; raises NotAllowedError.

        What it started is ended by then, and its end is recorded, also where this is cancelled.
        """
        await self._permit()
        self.started = True
        said = f"[The person ran this in the workspace, apart from this: {self._request.command}]"
        self._ground.record.open_turn(said, self._ground.output.scrub_message)
        self._began = time.perf_counter()
        self._watching.begin(self._call, self._request)
        left: Left = "ended"
        stream: BoxStream | None = None
        end = StreamEnd(reason="it could not be started")
        try:
            stream = await self._open(seat)
            left = await self._carry(seat, stream)
        finally:
            with anyio.CancelScope(shield=True):
                if stream is not None:
                    end = await stream.close()
                self._settle(end)
        return ProgramEnd(left, end, self._watching.ended_for)

    async def _permit(self) -> None:
        ground, call = self._ground, self._call
        arguments = ground.output.scrub_data({"command": self._request.command})
        ground.observe(ToolStart(call.id, TOOL, arguments))
        verdict = await ground.judge.judge(call, self._request)
        if not verdict.allowed:
            self._refuse(verdict)
        body = intent_body(call, self._request, verdict.decision, answer=verdict.answer)
        self._append("intent", {**body, "argv": list(self._argv)})

    def _refuse(self, verdict: Verdict) -> None:
        reason = refusal_text(verdict)
        body = refusal_body(
            self._call,
            reason,
            request=self._request,
            decision=verdict.decision,
            answer=verdict.answer,
        )
        self._append("refused", body)
        raise NotAllowedError(reason)

    async def _open(self, seat: Seat) -> BoxStream:
        ground, command, heard = self._ground, self._request.command, self._watching.hear
        try:
            if seat.size is not None:
                who = Person.here(TOOL)
                return await ground.access.open_terminal(
                    seat.size, who, command=command, on_execs=heard
                )
            target = ProgramTarget(command, WORKDIR)
            return await ground.room.box.open_stream(target, on_execs=heard)
        except StreamRefusedError as refused:
            raise BoxError(str(refused)) from refused

    async def _carry(self, seat: Seat, stream: BoxStream) -> Left:
        if seat.size is not None:
            return await seat.show(stream)
        ground = self._ground
        pipes = Pipes(stream, call=self._call.id, observe=ground.observe, output=ground.output)
        self._pipes = pipes
        try:
            return await seat.pipe(pipes)
        finally:
            pipes.flush()

    def _settle(self, end: StreamEnd) -> None:
        """Record the end and tell of it."""
        facts = {"exit_code": end.exit_code, "signal": end.signal, "reason": end.reason}
        passed = self._pipes.body() if self._pipes is not None else {}
        duration_ms = round((time.perf_counter() - self._began) * 1000)
        is_error = end.exit_code != 0
        self._append(
            "outcome",
            {
                "call": self._call.id,
                "tool": TOOL,
                "is_error": is_error,
                "facts": {**facts, **passed},
                "duration_ms": duration_ms,
                **self._watching.settle(),
            },
        )
        self._ground.observe(
            ToolEnd(
                call=self._call.id,
                name=TOOL,
                is_error=is_error,
                output="",
                details=self._ground.output.scrub_data(facts),
                duration_ms=duration_ms,
            )
        )

    def _append(self, kind: str, body: Mapping[str, Any]) -> None:
        audit = self._ground.record.audit
        audit.append(kind, self._ground.output.scrub_data(body))
