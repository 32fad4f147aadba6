"""What programs in a box have open towards the outside: each connection is given to an Outside.

The box counts these streams from ``BOX_NUMBERS``, each number once; what it says of them is taken
only where it fits, and is a breach that ends the box where it does not.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Coroutine
from contextlib import suppress
from typing import Annotated, Any

import anyio
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from orchestrator.errors import BoxError
from orchestrator.sandbox.channel import Send
from orchestrator.sandbox.driver import Outside
from orchestrator.sandbox.frames import BOX_NUMBERS, MAX_OUT, OPEN, RESULT, WINDOW, Frame
from orchestrator.sandbox.results import wire_bytes
from orchestrator.sandbox.taken_stream import TakenStream
from orchestrator.schema.egress import Caller
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.schema.way_out import Incoming, IncomingDoor

MOST_LOOK_UPS = 32
"""Names that are asked for at one time."""
CLOSE_S = 5.0
"""How long who serves may take to let go when nothing is let out any more."""
MANY = 64
"""Connections beyond which each new one may send less ahead, so that all together stay small."""

_NAME = StringConstraints(max_length=253, pattern=r"^[!-~]*$")
_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Caller(BaseModel):
    model_config = _STRICT

    pid: Annotated[int, Field(gt=0, lt=2**31)]
    program: Annotated[str, StringConstraints(max_length=4096)]
    argv: Annotated[list[Annotated[str, StringConstraints(max_length=4096)]], Field(max_length=64)]

    def told(self) -> Caller:
        """Return it as the rest of the house knows it."""
        return Caller(self.pid, self.program, tuple(self.argv))


class _From(BaseModel):
    """A connection."""

    model_config = _STRICT

    door: IncomingDoor
    host: Annotated[str, _NAME] = ""
    port: Annotated[int, Field(ge=0, lt=65_536)] = 0
    caller: _Caller | None = None


class _Name(BaseModel):
    """A name that is looked up."""

    model_config = _STRICT

    name: Annotated[str, _NAME]
    caller: _Caller | None = None


class _Opened(BaseModel):
    """The body of OPEN."""

    model_config = _STRICT

    origin: Annotated[_From | _Name, Field(alias="from")]
    credit: Annotated[int, Field(ge=0, le=WINDOW)]


class Departures:
    """All of one box's; frames with a number of the box's go through ``take``."""

    def __init__(self) -> None:
        """Let nothing out yet."""
        self._outside: Outside | None = None
        self._streams: dict[int, TakenStream] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._look_ups: set[int] = set()
        self._latest = BOX_NUMBERS
        self.used = False
        """Whether anything was ever let out: the box then counts on from what only this end knows."""

    @property
    def is_open(self) -> bool:
        """True while there is somebody outside."""
        return self._outside is not None

    def open(self, outside: Outside) -> None:
        """Give what comes from now on to ``outside``."""
        self._outside, self.used = outside, True

    async def close(self, seconds: float = CLOSE_S) -> None:
        """Let nothing out any more; who serves is told to stop, and waited for a while."""
        self._outside = None
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        with anyio.CancelScope(shield=True):
            if tasks:
                await asyncio.wait(tasks, timeout=seconds)
            # Of those whose task had not begun, or does not end.
            for stream in list(self._streams.values()):
                await stream.close()
        self._streams.clear()
        self._look_ups.clear()

    def take(self, frame: Frame, send: Send) -> None:
        """Act on a frame; ``send`` is the way back. BoxError for one that fits nothing."""
        stream = self._streams.get(frame.call)
        if stream is not None:
            stream.take(frame)
        elif frame.kind == OPEN:
            self._take_new(frame, send)
        elif not BOX_NUMBERS < frame.call <= self._latest or frame.kind == RESULT:
            raise BoxError(f"box: frame of kind {frame.kind} for stream {frame.call} of its own")
        # Else it was on its way when the stream was over; a look-up that is cancelled still ends.

    def fail(self, failure: BoxError) -> None:
        """End every stream with the box."""
        for stream in list(self._streams.values()):
            stream.fail(failure)

    def _take_new(self, frame: Frame, send: Send) -> None:
        if not self.used or frame.call <= self._latest:
            raise BoxError(f"box: opened stream {frame.call}, which is not its to open now")
        self._latest = frame.call
        opened = _parse(frame.payload)
        if self._outside is None:
            send(frame.call, RESULT, wire_bytes({"error": "nothing is let out", "code": "closed"}))
        elif isinstance(opened.origin, _Name):
            self._look_up(frame.call, opened.origin, send, self._outside)
        else:
            if len(self._streams) >= MAX_OUT:
                raise BoxError(f"box: opened more than {MAX_OUT} connections")
            window = WINDOW if len(self._streams) < MANY else WINDOW // 4
            stream = TakenStream(frame.call, send, credit=opened.credit, window=window)
            self._streams[frame.call] = stream
            origin = opened.origin
            caller = origin.caller.told() if origin.caller is not None else None
            incoming = Incoming(origin.door, origin.host, origin.port, caller)
            self._start(self._serve(frame.call, stream, incoming, outside=self._outside))

    def _look_up(self, number: int, asked: _Name, send: Send, outside: Outside) -> None:
        if len(self._look_ups) >= MOST_LOOK_UPS:
            raise BoxError(f"box: looks up more than {MOST_LOOK_UPS} names")
        self._look_ups.add(number)
        self._start(self._answer(number, asked, send, outside=outside))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(
        self, number: int, stream: TakenStream, incoming: Incoming, *, outside: Outside
    ) -> None:
        try:
            # A program that goes away, or the box, is an end like any other.
            with suppress(OSError, BoxError):
                await outside.serve(incoming, stream)
        # One connection must not end the session; the error is told and the program cut off.
        except Exception as err:  # noqa: BLE001
            _tell(f"the way out: a connection by {incoming.door} failed", err)
        finally:
            self._streams.pop(number, None)
            await stream.close()

    async def _answer(self, number: int, asked: _Name, send: Send, *, outside: Outside) -> None:
        known = False
        try:
            caller = asked.caller.told() if asked.caller is not None else None
            known = await outside.knows(asked.name, caller)
        # Whatever fails in it is a no.
        except Exception as err:  # noqa: BLE001
            _tell("the way out: a name could not be judged", err)
        finally:
            self._look_ups.discard(number)
            send(number, RESULT, wire_bytes({"data": {"known": known}}))


def _parse(payload: bytes) -> _Opened:
    try:
        return _Opened.model_validate_json(payload)
    except ValidationError as err:
        first = err.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BoxError(f"box: opened a stream wrongly at {where}: {first['msg']}") from err


def _tell(message: str, error: Exception) -> None:
    # Not the error itself: its text may hold what a program sent, and this goes to a terminal.
    where = "".join(traceback.format_tb(error.__traceback__))
    text = escape_terminal(
        f"{message}: {type(error).__name__}: {error}\n{where}", keep_newlines=True
    )
    asyncio.get_running_loop().call_exception_handler({"message": text})
