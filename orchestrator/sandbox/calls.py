"""What is under way in one box, calls and streams: which frame belongs to whom, and may it be."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import Any

import anyio

from orchestrator.errors import BoxError
from orchestrator.sandbox.departures import Departures
from orchestrator.sandbox.driver import OnOutput
from orchestrator.sandbox.frames import (
    BOX_NUMBERS,
    CANCEL,
    CREDIT,
    EXECS,
    MAX_CALLS,
    OPEN,
    OUTPUT,
    REQUEST,
    RESULT,
    STOP,
    U32,
    WINDOW,
    Frame,
)
from orchestrator.sandbox.link import Link
from orchestrator.sandbox.results import parse_answer, parse_execs, wire_bytes
from orchestrator.sandbox.streams import OpenedStream, target_body
from orchestrator.schema.exec_record import OnExecs
from orchestrator.schema.outcome import Outcome
from orchestrator.schema.stream import StreamTarget


class Call:
    """One request that was sent; ``done`` is set when its outcome or its failure is there."""

    def __init__(self, number: int, kind: str, on_output: OnOutput | None) -> None:
        """Expect the answer to a request of this kind."""
        self.number = number
        self.kind = kind
        self.done = anyio.Event()
        self.answer: Outcome | None = None
        self.failure: BoxError | None = None
        self._on_output = on_output
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._window = WINDOW if on_output else 0
        self.cancelled = False
        """The box was asked to end it."""
        self._slip: Exception | None = None

    @property
    def credit(self) -> int:
        """Return how much output the box may send at first."""
        return self._window

    def take_output(self, data: bytes) -> None:
        """Pass output on; more than was allowed is a breach."""
        if len(data) > self._window or self._on_output is None:
            raise BoxError("box: sent more output than it was allowed")
        self._window -= len(data)
        self._say(self._decode(data))

    def renew(self) -> int:
        """Return how much more output may be sent; 0 while most of the window is left."""
        if self._window > WINDOW // 2:
            return 0
        renewed = WINDOW - self._window
        self._window = WINDOW
        return renewed

    def finish(self, answer: Outcome) -> None:
        """Settle it with the box's answer."""
        self._say(self._decode(b"", final=True))
        self.answer = answer
        self.done.set()

    def fail(self, failure: BoxError) -> None:
        """Settle it with the box's end."""
        self.failure = failure
        self.done.set()

    def outcome(self) -> Outcome:
        """Return what came of it; raises where the box failed, or what ``on_output`` raised."""
        if self.failure is not None:
            # A fresh copy, since several calls may fail by one cause and each raise adds to it.
            raise BoxError(self.failure.message, hint=self.failure.hint) from self.failure
        if self._slip is not None:
            raise self._slip
        if self.answer is None:
            raise RuntimeError("outcome() before done")
        return self.answer

    def slip(self, err: Exception) -> None:
        """Raise this from ``outcome``; the first one stays."""
        self._slip = self._slip or err

    def _say(self, text: str) -> None:
        if not text or self._on_output is None or self._slip is not None:
            return
        try:
            self._on_output(text)
        # Raised here it would tear the connection; whoever waits for the call gets it instead.
        except Exception as err:  # noqa: BLE001
            self._slip = err


class Calls:
    """All of one box's; every frame from the box goes through ``take``."""

    def __init__(self, latest: int = 0) -> None:
        """``latest`` is the number of the last call that an earlier owner of the box made."""
        self._link: Link | None = None
        self._open: dict[int, Call | OpenedStream] = {}
        self._watched: dict[int, OnExecs] = {}
        """Who hears what a call's command starts, after its outcome too."""
        self.departures = Departures()
        self.on_breach: Callable[[BoxError], None] = self.fail
        """Ends the box, where another of its connections broke."""
        self.latest = latest
        self.failure: BoxError | None = None

    @property
    def idle(self) -> bool:
        """True where no call is open, and nothing was ever let out."""
        return not (self._open or self.departures.used)

    def send_over(self, link: Link) -> None:
        """Name the connection that requests go out on."""
        self._link = link

    def send(
        self,
        body: dict[str, Any],
        on_output: OnOutput | None = None,
        on_execs: OnExecs | None = None,
    ) -> Call:
        """Send one request; raises where the box is gone already."""
        link = self._usable()
        call = Call(self.latest, str(body["kind"]), on_output)
        if call.credit:
            body = {**body, "credit": call.credit}
        self._open[call.number] = call
        if on_execs is not None:
            self._watched[call.number] = on_execs
        link.send(call.number, REQUEST, wire_bytes(body))
        return call

    def pass_descriptor(self, body: dict[str, Any], descriptor: int) -> Call | None:
        """Send one request with a descriptor beside it; None where others are to go first."""
        link = self._usable()
        call = Call(self.latest, str(body["kind"]), None)
        sent = link.pass_descriptor(call.number, REQUEST, wire_bytes(body), descriptor=descriptor)
        if not sent:
            return None
        self._open[call.number] = call
        return call

    def open_stream(self, target: StreamTarget, on_execs: OnExecs | None = None) -> OpenedStream:
        """Ask for a stream, which is to be waited for; raises where the box is gone already."""
        link = self._usable()
        stream = OpenedStream(self.latest, link.send)
        self._open[self.latest] = stream
        if on_execs is not None:
            self._watched[self.latest] = on_execs
        body = target_body(target, watched=on_execs is not None)
        link.send(self.latest, OPEN, wire_bytes(body))
        return stream

    def cancel(self, call: Call) -> None:
        """Ask the box, once, to end a call; its result still comes."""
        if self._link is not None and not (call.done.is_set() or call.cancelled):
            call.cancelled = True
            self._link.send(call.number, CANCEL)

    def take(self, frame: Frame) -> None:
        """Act on a frame; raises BoxError for one that fits nothing."""
        if frame.kind == EXECS:
            self._take_execs(frame)
            return
        if frame.call >= BOX_NUMBERS and self._link is not None:
            self.departures.take(frame, self._link.send)
            return
        call = self._open.get(frame.call)
        if call is None:
            raise BoxError(f"box: answered call {frame.call}, which is not open")
        if isinstance(call, OpenedStream):
            if call.take(frame):
                del self._open[frame.call]
        elif frame.kind == OUTPUT:
            call.take_output(frame.payload)
            renewed = call.renew()
            if renewed and self._link is not None:
                self._link.send(call.number, CREDIT, U32.pack(renewed))
        elif frame.kind == RESULT:
            call.finish(parse_answer(call.kind, frame.payload))
            del self._open[frame.call]
        else:
            raise BoxError(f"box: frame of kind {frame.kind} for a call")

    def _take_execs(self, frame: Frame) -> None:
        if not 0 < frame.call <= self.latest:
            raise BoxError(f"box: told of what call {frame.call} started, which was never made")
        report = parse_execs(frame.payload)
        on_execs = self._watched.get(frame.call)
        if report.last:
            self._watched.pop(frame.call, None)
        if on_execs is None:
            return
        try:
            end = on_execs(report)
        # Raised here it would tear the connection; whoever waits for the call gets it instead.
        except Exception as err:  # noqa: BLE001
            self._slip(frame.call, err)
            end = True
        if end and self._link is not None:
            self._link.send(frame.call, STOP)

    def _slip(self, number: int, err: Exception) -> None:
        call = self._open.get(number)
        if isinstance(call, Call):
            call.slip(err)
        else:
            # Nobody waits; without a record of what starts nothing more may start.
            self.fail(BoxError(f"box: what its commands start cannot be recorded: {err}"))

    def fail(self, failure: BoxError) -> None:
        """End every call; the first reason stays the one that is told."""
        self.failure = self.failure or failure
        waiting, self._open = list(self._open.values()), {}
        for call in waiting:
            call.fail(self.failure)
        self.departures.fail(self.failure)

    def _usable(self) -> Link:
        """Return the connection, with a new number taken."""
        if self.failure is not None:
            raise BoxError(self.failure.message, hint=self.failure.hint)
        if self._link is None:
            raise RuntimeError("send() before send_over()")
        if len(self._open) >= MAX_CALLS:
            raise BoxError(f"box: at most {MAX_CALLS} calls at a time")
        self.latest += 1
        return self._link
