"""A running box as an Executor: every request becomes one call, and always ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio

from orchestrator.errors import BoxError
from orchestrator.sandbox.calls import Call, Calls
from orchestrator.sandbox.container_spec import MASKED, READ_ONLY
from orchestrator.sandbox.driver import (
    BoxSpec,
    BoxStream,
    OnOutput,
    Outside,
    PathRefusedError,
)
from orchestrator.sandbox.frames import MAX_MESSAGE
from orchestrator.sandbox.own_link import own_link
from orchestrator.sandbox.posture import posture_of
from orchestrator.sandbox.results import Findings
from orchestrator.sandbox.way_environment import way_environment
from orchestrator.schema.exec_record import OnExecs
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.posture import Posture
from orchestrator.schema.request import (
    ExecRequest,
    FileRequest,
    ProcessLook,
    ProcessStart,
    Request,
    WriteRequest,
    to_wire,
)
from orchestrator.schema.stream import StreamTarget
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.schema.way_out import WayOut

FILE_TIME_S = 30.0
"""The server's own limit for a file request."""
MARGIN_S = 20.0
"""What the host waits beyond the box's own limit: a starved box is late, not lost."""
CANCEL_S = 5.0
MAX_CONTENT = MAX_MESSAGE // 5
"""Characters of one written file; each may take four bytes, and its path needs room too."""


class Box:
    """The Executor of one box; the connections behind it belong to whoever started it."""

    def __init__(self, spec: BoxSpec, calls: Calls, facts: Mapping[str, str]) -> None:
        """``facts`` are what the engine told of the box, for its posture."""
        self._spec = spec
        self._calls = calls
        self._facts = facts

    async def execute(
        self,
        request: Request,
        *,
        on_output: OnOutput | None = None,
        on_execs: OnExecs | None = None,
    ) -> Outcome:
        """Run one request; raises BoxError only when the box itself fails."""
        if isinstance(request, WriteRequest) and len(request.content) > MAX_CONTENT:
            return Outcome(
                error=f"content: {len(request.content)} characters, at most {MAX_CONTENT} in one "
                "write; write it in parts, or by a command",
                code="too_large",
            )
        if isinstance(request, ExecRequest):
            seconds = request.timeout_s
        elif isinstance(request, ProcessLook):
            seconds = request.look.wait_s
        else:
            on_output, seconds = None, FILE_TIME_S
        starts = isinstance(request, ExecRequest | ProcessStart)
        return await self._call(
            to_wire(request),
            on_output=on_output,
            seconds=seconds,
            on_execs=on_execs if starts else None,
        )

    async def resolve(self, request: FileRequest) -> str:
        """Return where the request's path lands; raises PathRefusedError where it lands nowhere."""
        body = {"kind": "resolve", "request": {"path": request.path}}
        outcome = await self._call(body, on_output=None, seconds=FILE_TIME_S)
        if outcome.error is not None:
            raise PathRefusedError(outcome.error)
        return str(outcome.data["path"])

    async def probe(self) -> Posture:
        """Ask from inside what the box really has."""
        outcome = await self._call(
            {"kind": "probe", "paths": [*MASKED, *READ_ONLY]}, on_output=None, seconds=FILE_TIME_S
        )
        if outcome.error is not None:
            raise BoxError(f"box: the probe failed ({outcome.error})")
        found = Findings.model_validate(outcome.data)
        return posture_of(found, self._spec, self._facts)

    async def open_stream(
        self, target: StreamTarget, *, on_execs: OnExecs | None = None
    ) -> BoxStream:
        """Return a stream that is open; StreamRefusedError where there is nothing at its end."""
        stream = self._calls.open_stream(target, on_execs)
        try:
            await stream.opened()
        except anyio.get_cancelled_exc_class():
            await stream.close()
            raise
        return stream

    @asynccontextmanager
    async def let_out(self, way: WayOut, outside: Outside) -> AsyncIterator[None]:
        """Give connections of programs in the box to ``outside`` while the context is entered."""
        departures = self._calls.departures
        if departures.is_open:
            raise RuntimeError("let_out() is entered already")
        departures.open(outside)
        async with own_link(self._calls, ask=self._ask, wait=self._answer):
            try:
                await self._tell_way(
                    {
                        "certificates": way.certificates,
                        "proxy_port": way.proxy_port,
                        "model_port": way.model_port,
                        "transparent_ports": way.transparent_ports,
                        "environment": way_environment(way, self._spec.environment),
                    }
                )
                yield
            finally:
                with anyio.CancelScope(shield=True):
                    await departures.close()
                    # What is gone lets nothing out.
                    with suppress(BoxError):
                        await self._tell_way(None)

    async def _tell_way(self, way: Mapping[str, object] | None) -> None:
        outcome = await self._ask({"kind": "let_out", "way": way})
        if outcome.error is not None:
            raise BoxError(
                f"box: nothing can be let out of it ({escape_terminal(outcome.error)})",
                hint="what runs in the box may have taken the port; start the session anew",
            )

    async def _call(
        self,
        body: dict[str, Any],
        *,
        on_output: OnOutput | None,
        seconds: float,
        on_execs: OnExecs | None = None,
    ) -> Outcome:
        return await self._answer(self._calls.send(body, on_output, on_execs), seconds)

    async def _ask(self, body: dict[str, Any]) -> Outcome:
        return await self._call(body, on_output=None, seconds=FILE_TIME_S)

    async def _answer(self, call: Call, seconds: float = FILE_TIME_S) -> Outcome:
        # A plain timer: a cancel scope takes longer than all else that is done here for a read.
        timer = asyncio.get_running_loop().call_later(seconds + MARGIN_S, self._end, call)
        try:
            await call.done.wait()
        finally:
            timer.cancel()
            if not call.done.is_set():
                self._end(call)
                with anyio.CancelScope(shield=True):
                    await call.done.wait()
        return call.outcome()

    def _end(self, call: Call) -> None:
        """Cancel in the box; the call is done when it is over there, as its effects then are."""
        self._calls.cancel(call)
        asyncio.get_running_loop().call_later(CANCEL_S, self._give_up, call)

    def _give_up(self, call: Call) -> None:
        if not call.done.is_set():
            self._calls.fail(BoxError("box: it did not end a call when asked to"))
