"""One admitted request: sent to its place, answered from there, both in bounded pieces."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
import h11
from anyio.abc import TaskGroup

from orchestrator.egress import websocket
from orchestrator.egress.dialing import AddressRefusedError, UnreachableError
from orchestrator.egress.framed import BrokenOffError, Framed, read_response
from orchestrator.egress.hops import end_to_end, length_of
from orchestrator.egress.ledger import OverLimitError
from orchestrator.egress.line import Line
from orchestrator.egress.live import Carried
from orchestrator.egress.refusals import Refusal, by_rule, failed, malformed, refusal_of
from orchestrator.egress.seams import Headers
from orchestrator.egress.splice import Splice
from orchestrator.egress.strict import MAX_HEAD, MessageError
from orchestrator.egress.targets import Place
from orchestrator.egress.upstream import Upstream

PIECE = 256 * 1024
"""Bytes that are gathered before they are sent, where more is there already."""
MAX_INFORMATIONAL = 16
REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that may be sent again on another connection, where the first was found closed."""


@dataclass(frozen=True)
class Asked:
    """A request as it was read."""

    method: str
    target: str
    """In origin-form, byte for byte."""
    place: Place
    headers: Headers
    version: bytes
    framed: Framed
    first: h11.Event | None
    """First part of the body, where it came with the head."""
    upgrade: str = ""

    @property
    def has_body(self) -> bool:
        """Whether more than the head is to be sent."""
        return not isinstance(self.first, h11.EndOfMessage)


@dataclass
class Exchange:
    """Carries out one request; afterwards ``keep`` tells whether the box may send another."""

    line: Line
    asked: Asked
    carried: Carried
    keep: bool = False
    begun: bool = False
    """The box got a part of the answer already."""
    refusal: Refusal | None = None
    """To be the answer, where nothing of it began."""
    _word: anyio.Event = field(default_factory=anyio.Event)
    """The server wants the body, or the box need not wait for that."""
    _stopped: bool = False

    async def run(self) -> None:
        """Pass request and answer; never raises but to be cancelled."""
        try:
            await self._carry()
        except (AddressRefusedError, UnreachableError) as error:
            self._fail(refusal_of(error), str(error))
        except OverLimitError as error:
            self._fail(by_rule(self._rule, str(error)), str(error))
        except MessageError as error:
            self._fail(failed("bad-answer", f"the server's answer: {error}"), str(error))
        except BrokenOffError as error:
            self._fail(failed("broken", "the server broke off"), f"the server: {error}")
        except OSError as error:
            self._fail(failed("broken", "the connection broke"), f"broke off: {error}")

    def _fail(self, refusal: Refusal, problem: str) -> None:
        self.keep = False
        self.carried.problem = self.carried.problem or problem
        self.refusal = self.refusal or refusal

    @property
    def _rule(self) -> str:
        return self.carried.admission.verdict.decision.rule

    async def _carry(self) -> None:
        length = length_of(self.asked.headers)
        if length and self.asked.has_body:
            self._expect_upload(length)
        pool = self.line.pool
        upstream = await pool.take(self.asked.place, self.carried.admission)
        try:
            try:
                await self._over(upstream)
            except BrokenOffError as error:
                again = upstream.used and not error.started and not self.asked.has_body
                if not again or self.asked.method not in REPEATABLE:
                    raise
                await pool.drop(upstream)
                upstream = await pool.take(self.asked.place, self.carried.admission, fresh=True)
                await self._over(upstream)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await pool.drop(upstream)
            raise

    def _expect_upload(self, length: int) -> None:
        try:
            self.carried.meter.expect("upload", length)
        except OverLimitError as error:
            self.refusal = by_rule(self._rule, str(error), status=413)
            raise

    async def _over(self, upstream: Upstream) -> None:
        """Do the exchange on one connection, which is kept or dropped after it."""
        self.carried.address = upstream.address
        parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
        head = self._head(parser)
        self.carried.meter.head("upload", len(head))
        if not self.asked.has_body:
            head += parser.send(h11.EndOfMessage()) or b""
            try:
                await upstream.reader.send(head)
            except OSError as error:
                raise BrokenOffError(started=False) from error
            await self._answer(upstream, parser)
        else:
            await self._both(upstream, parser, head)
        if parser.our_state is h11.DONE and parser.their_state is h11.DONE:
            await self.line.pool.give_back(upstream)
        else:
            await self.line.pool.drop(upstream)

    async def _both(self, upstream: Upstream, parser: h11.Connection, head: bytes) -> None:
        """Send and hear the answer at one time; a whole answer ends the sending."""
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._upload, upstream, parser, head, tasks)
            try:
                await self._answer(upstream, parser)
            except (OverLimitError, MessageError, OSError) as error:
                failure = error
            tasks.cancel_scope.cancel()
        if self._stopped:
            raise BrokenOffError(started=True)
        if failure is not None:
            raise failure

    def _head(self, parser: h11.Connection) -> bytes:
        asked = self.asked
        headers = tuple(item for item in end_to_end(asked.headers) if item[0].lower() != b"host")
        headers = ((b"Host", asked.place.authority.encode()), *headers)
        if asked.upgrade:
            headers = websocket.switching(headers)
        if asked.has_body and length_of(headers) is None:
            headers = (*headers, (b"Transfer-Encoding", b"chunked"))
        request = h11.Request(method=asked.method, target=asked.target, headers=list(headers))
        return parser.send(request) or b""

    async def _upload(
        self, upstream: Upstream, parser: h11.Connection, head: bytes, tasks: TaskGroup
    ) -> None:
        """Send head and body; what the answer is does not wait for its end."""
        try:
            await self._send_body(upstream, parser, head)
        except OverLimitError as error:
            self._stop(tasks, by_rule(self._rule, str(error), status=413), str(error))
        except MessageError as error:
            self._stop(tasks, malformed(error.status, str(error)), str(error))
        except BrokenOffError as error:
            self._stop(tasks, None, f"the program: {error}")
        except OSError:
            # The server takes no more; what it answered by then is still to be read.
            return

    def _stop(self, tasks: TaskGroup, refusal: Refusal | None, problem: str) -> None:
        self._stopped = True
        self.refusal = refusal
        self.carried.problem = problem
        tasks.cancel_scope.cancel()

    async def _send_body(self, upstream: Upstream, parser: h11.Connection, head: bytes) -> None:
        framed, event, pending = self.asked.framed, self.asked.first, bytearray(head)
        while not isinstance(event, h11.EndOfMessage):
            if isinstance(event, h11.Data):
                self.carried.meter.body("upload", len(event.data))
                pending += parser.send(event) or b""
            if pending and (event is None or len(pending) >= PIECE):
                await upstream.reader.send(bytes(pending))
                pending.clear()
                self.carried.touch()
            if event is None:
                await self._await_word()
                await framed.more()
                self.carried.touch()
            event = framed.event()
        pending += parser.send(h11.EndOfMessage()) or b""
        if pending:
            await upstream.reader.send(bytes(pending))

    async def _await_word(self) -> None:
        """Let a client that waits for 100 have it: when the server says so, or says nothing."""
        if not self.asked.framed.parser.they_are_waiting_for_100_continue:
            return
        with anyio.move_on_after(self.line.parts.limits.continue_s):
            await self._word.wait()
        if self.asked.framed.parser.they_are_waiting_for_100_continue:
            await self._inform()

    async def _inform(self) -> None:
        told = h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
        await self.line.reader.send(self.asked.framed.parser.send(told) or b"")

    async def _answer(self, upstream: Upstream, parser: h11.Connection) -> None:
        for _ in range(MAX_INFORMATIONAL):
            head, framed = await read_response(upstream.reader, parser)
            self.carried.touch()
            if isinstance(head, h11.Response):
                await self._pass_answer(head, framed)
                return
            if head.status_code == 101:
                await self._switch(upstream, head)
                return
            if head.status_code == 100:
                self._word.set()
        raise MessageError(f"more than {MAX_INFORMATIONAL} interim answers")

    async def _pass_answer(self, head: h11.Response, framed: Framed) -> None:
        self.carried.status = head.status_code
        meter, server = self.carried.meter, self.asked.framed.parser
        headers = end_to_end(framed.headers)
        event = framed.event()
        length = length_of(headers)
        if length and not isinstance(event, h11.EndOfMessage):
            meter.expect("download", length)
        answer = h11.Response(
            status_code=head.status_code, headers=list(headers), reason=head.reason
        )
        pending = bytearray(server.send(answer) or b"")
        meter.head("download", len(pending))
        while not isinstance(event, h11.EndOfMessage):
            if isinstance(event, h11.Data):
                pending += await self._admit_down(server, bytes(event.data), pending)
            if pending and (event is None or len(pending) >= PIECE):
                await self._send(bytes(pending))
                pending.clear()
            if event is None:
                await framed.more()
                self.carried.touch()
            event = framed.event()
        pending += server.send(h11.EndOfMessage()) or b""
        await self._send(bytes(pending))
        self.keep = server.our_state is h11.DONE and server.their_state is h11.DONE

    async def _admit_down(self, server: h11.Connection, data: bytes, pending: bytearray) -> bytes:
        """Count a piece of the answer, and return it as it goes to the box.

        Where only a part of it may pass, that part is sent, and OverLimitError raised.
        """
        meter = self.carried.meter
        room = meter.room("download", len(data))
        meter.body("download", room)
        if room == len(data):
            return server.send(h11.Data(data=data)) or b""
        if room:
            pending += server.send(h11.Data(data=data[:room])) or b""
        await self._send(bytes(pending))
        meter.expect("download", len(data) - room)
        raise AssertionError("there was no room")

    async def _switch(self, upstream: Upstream, head: h11.InformationalResponse) -> None:
        """Pass on a verified switch to WebSocket, and then bytes."""
        if not self.asked.upgrade:
            raise MessageError("it switches protocols unasked")
        answer: Headers = tuple(head.headers.raw_items())
        websocket.check_switch(self.asked.headers, answer)
        self.carried.status = 101
        lines = [b"HTTP/1.1 101 Switching Protocols"]
        switched = websocket.switching(end_to_end(answer))
        lines += [name + b": " + value for name, value in switched]
        data = b"\r\n".join([*lines, b"", b""])
        self.carried.meter.head("download", len(data))
        await self._send(data)
        self.line.life.spliced = True
        self.carried.idle_s = self.line.parts.limits.tunnel_idle_s
        self.carried.touch()
        await Splice(self.line.reader, upstream.reader, self.carried).run()

    async def _send(self, data: bytes) -> None:
        self.begun = True
        await self.line.reader.send(data)
        self.carried.touch()
