"""Answers what a wrapped agent's hooks ask: policy, and a person where policy says so.

It binds an agent that keeps to its hooks, no more: whoever does not ask is held by the box. Where
the gate cannot answer, its client refuses the tool.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import anyio
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orchestrator.dispatch.judge import Verdict, refusal_text
from orchestrator.dispatch.records import answer_body, decision_body
from orchestrator.errors import BoxError, GloveboxError
from orchestrator.harness.box_spec import WORKDIR
from orchestrator.harness.ending import tell
from orchestrator.harness.ground import Ground
from orchestrator.harness.wrap.beside import beside
from orchestrator.harness.wrap.gate.calls import ClientCall, NotAskedError, parse_call
from orchestrator.harness.wrap.watching import Watching
from orchestrator.loop.limits import Pace
from orchestrator.policy.evaluate import evaluate_tool
from orchestrator.sandbox.driver import BoxStream, PathRefusedError, StreamRefusedError
from orchestrator.sandbox.pieces import Pieces
from orchestrator.schema.decision import Decision
from orchestrator.schema.ids import CallId, digest_of
from orchestrator.schema.message import ToolCall
from orchestrator.schema.request import ExecRequest, FileRequest, request_digest, to_wire
from orchestrator.schema.stream import ProgramTarget

COMMAND = "/opt/glovebox/toolserver/glovebox-gate"
"""The client in the box, and with ``relay`` the gate's end there."""
_ITSELF = (
    "/opt/glovebox/runtime/ld.so --inhibit-cache --library-path /opt/glovebox/runtime/libraries "
    "/opt/glovebox/runtime/bin/python3 -I -S -B -c"
)
_CODE = (
    "import sys; sys.path.insert(0, '/opt/glovebox/toolserver'); import gate_client; "
    "sys.exit(gate_client.main(sys.argv[1:]))"
)
MOST_ASKED = 64
MOST_A_MINUTE = 600
"""Questions, where policy sets no lower limit of tool calls; more wait."""
MOST_KEPT = 4096
"""Characters of a text of a call that its record has; of a longer one it has the digest."""
MOST_LINE = 2 * 1024 * 1024
READY_S = 20.0


class _Question(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    id: int = Field(ge=0)
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Answer:
    decision: Decision
    allowed: bool
    reason: str
    verdict: Verdict | None = None


class Gate:
    """One session's; ``watching`` is told what may run."""

    def __init__(self, ground: Ground, watching: Watching, *, client: str) -> None:
        """Judge with ``ground``'s own judge what ``client`` asks."""
        self._ground = ground
        self._watching = watching
        # To ask is to start a program, which runs by a loader of our own.
        itself = shlex.join((*_ITSELF.split(), _CODE, client))
        watching.expect(ExecRequest(itself, WORKDIR, 1.0))
        self._judge = ground.judge
        self._asked = 0
        limit = ground.governed.policy.limits.tool_calls_per_minute
        self._pace = Pace(min(limit or MOST_A_MINUTE, MOST_A_MINUTE))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer until the end of the block; BoxError where the box cannot have it."""
        target = ProgramTarget(f"exec {COMMAND} relay", WORKDIR)
        try:
            stream = await self._ground.room.box.open_stream(target)
        except StreamRefusedError as refused:
            raise BoxError(f"the gate in the box: {refused}") from refused
        lines = _Lines(stream)
        try:
            with anyio.move_on_after(READY_S):
                if await lines.next() is None:
                    raise BoxError(f"the gate in the box did not start: {lines.errors}")
            async with beside(lambda: self._serve(stream, lines)):
                yield
        finally:
            with anyio.CancelScope(shield=True):
                await stream.close()

    async def _serve(self, stream: BoxStream, lines: _Lines) -> None:
        """Answer each question by itself: who is asked about one holds no other up."""
        send, room = anyio.Lock(), anyio.Semaphore(MOST_ASKED)
        failures: list[GloveboxError] = []
        async with anyio.create_task_group() as group:

            async def reply(line: bytes) -> None:
                try:
                    data = await self._reply(line)
                    async with send:
                        await stream.send(data)
                except GloveboxError as error:
                    # Raised below: out of a task group it would come wrapped in another kind.
                    failures.append(error)
                    group.cancel_scope.cancel()
                finally:
                    room.release()

            while (line := await lines.next()) is not None:
                await room.acquire()
                group.start_soon(reply, line)
        if failures:
            raise failures[0]
        tell(self._ground, "gate", "its end in the box is gone: the agent's tools are refused now")

    async def _reply(self, line: bytes) -> bytes:
        try:
            question = _Question.model_validate_json(line)
        except ValidationError as error:
            raise BoxError("box: the gate's end there says what is no question") from error
        answer = await self._answer(question.body)
        told = {"decision": "allow" if answer.allowed else "deny", "reason": answer.reason}
        return json.dumps({"id": question.id, "answer": told}).encode() + b"\n"

    async def _answer(self, body: Mapping[str, Any]) -> _Answer:
        self._asked += 1
        number = self._asked
        # Each leaves a record: a program that asks without end must not fill the host's disk.
        ((wait_s, _),) = self._pace.spread(1, time.monotonic())
        await anyio.sleep(wait_s)
        try:
            call = parse_call(body, workdir=WORKDIR)
            call = await self._landed(call)
        except (NotAskedError, PathRefusedError) as error:
            await self._record(number, None, refused := _unclear(str(error)))
            return refused
        answer = await self._judged(number, call)
        await self._record(number, call, answer)
        if answer.allowed and isinstance(call.request, ExecRequest):
            self._watching.expect(call.request)
        return answer

    async def _landed(self, call: ClientCall) -> ClientCall:
        if not isinstance(call.request, FileRequest):
            return call
        landed = await self._ground.room.box.resolve(call.request)
        return replace(call, request=replace(call.request, resolved=landed))

    async def _judged(self, number: int, call: ClientCall) -> _Answer:
        if call.request is None:
            decision = evaluate_tool(self._ground.governed.policy, call.known_as)
            allowed = decision.effect == "allow"
            reason = decision.reason if allowed else f"{decision.reason}; nobody is asked about it"
            return _Answer(decision, allowed, self._scrubbed(reason))
        raw = json.dumps(call.arguments, default=str)
        tool_call = ToolCall(CallId(f"gate-{number}"), call.known_as, raw, dict(call.arguments))
        verdict = await self._judge.judge(tool_call, call.request)
        reason = "allowed by policy" if verdict.allowed else refusal_text(verdict)
        return _Answer(verdict.decision, verdict.allowed, self._scrubbed(reason), verdict)

    async def _record(self, number: int, call: ClientCall | None, answer: _Answer) -> None:
        """Write it down before anybody hears of it; AuditUnavailable ends the session."""
        request = call.request if call is not None else None
        body = {
            "call": f"gate-{number}",
            "client": call.client if call is not None else "",
            "tool": call.tool if call is not None else "",
            "known_as": call.known_as if call is not None else "",
            "request": _shortened(to_wire(request)) if request is not None else None,
            "digest": request_digest(request) if request is not None else None,
            "decision": decision_body(answer.decision),
            "answer": answer_body(answer.verdict.answer if answer.verdict else None),
            "allowed": answer.allowed,
        }
        await self._ground.access.note("client_call", body)

    def _scrubbed(self, reason: str) -> str:
        return self._ground.output.scrub(reason)


def _shortened(wire: Any) -> Any:
    """Return a request's data with long texts by digest: they are the client's to do, or not."""
    if isinstance(wire, str) and len(wire) > MOST_KEPT:
        data = wire.encode("utf-8", "surrogatepass")
        return {"characters": len(wire), "digest": digest_of(data)}
    if isinstance(wire, dict):
        return {name: _shortened(value) for name, value in wire.items()}
    return [_shortened(value) for value in wire] if isinstance(wire, list) else wire


def _unclear(reason: str) -> _Answer:
    decision = Decision(effect="deny", rule="unclear", layer="floor", reason=reason)
    return _Answer(decision, False, f"Refused: {reason}")


class _Lines:
    """Lines of a program's output; its errors are kept for the words of a failure."""

    def __init__(self, stream: BoxStream) -> None:
        self._stream = stream
        self._pieces = Pieces()
        self._heard = bytearray()
        self.errors = ""

    async def next(self) -> bytes | None:
        """Return the next line; None at the end. BoxError for one without end."""
        while b"\n" not in self._heard:
            data = await self._stream.receive()
            if not data:
                return None
            for source, piece in self._pieces.feed(data):
                if source == "stdout":
                    self._heard += piece
                else:
                    self.errors = (self.errors + piece.decode("utf-8", "replace"))[-500:]
            if len(self._heard) > MOST_LINE:
                raise BoxError("box: the gate's end there sends a line without end")
        line, _, rest = self._heard.partition(b"\n")
        self._heard = bytearray(rest)
        return bytes(line)
