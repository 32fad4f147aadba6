"""One admitted request: sent to its place, answered from there, both in bounded pieces."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
import h11
from anyio.abc import TaskGroup

from orchestrator.egress.answer import PIECE, Answer
from orchestrator.egress.asked import Asked
from orchestrator.egress.dialing import AddressRefusedError, UnreachableError
from orchestrator.egress.framed import BrokenOffError
from orchestrator.egress.hops import length_of
from orchestrator.egress.inject.frames import FrameError
from orchestrator.egress.inject.injector import MAX_SIGNED_BODY
from orchestrator.egress.inject.placeholders import InjectionRefused
from orchestrator.egress.inject.response import ScrubRefused
from orchestrator.egress.ledger import OverLimitError
from orchestrator.egress.line import Line
from orchestrator.egress.live import Carried
from orchestrator.egress.outgoing import Outgoing, plan_outgoing
from orchestrator.egress.refusals import Refusal, by_rule, failed, malformed, refusal_of
from orchestrator.egress.seams import Onlooker
from orchestrator.egress.strict import MAX_HEAD, MessageError
from orchestrator.egress.upstream import Upstream

REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that may be sent again on another connection, where the first was found closed."""


@dataclass
class Exchange:
    """Carries out one request; afterwards ``keep`` tells whether the box may send another."""

    line: Line
    asked: Asked
    carried: Carried
    refusal: Refusal | None = None
    """To be the answer, where nothing of it ``begun``."""
    keep: bool = False
    begun: bool = False
    _stopped: bool = False
    _held: bytes | None = None
    """The whole body, where it had to be read before the head was sent."""
    _wanted: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> None:
        """Pass request and answer; never raises but to be cancelled."""
        await self._run(self._onlooker())
        if self.refusal is not None and not self.begun:
            self.carried.refused = self.refusal.rule

    async def _run(self, onlooker: Onlooker | None) -> None:
        try:
            await self._carry(onlooker)
        except (AddressRefusedError, UnreachableError) as error:
            if isinstance(error, AddressRefusedError):
                self.carried.address = error.address
            self._fail(refusal_of(error), str(error))
        except InjectionRefused as error:
            self._fail(by_rule(self._rule, str(error)), str(error))
        except OverLimitError as error:
            self._fail(by_rule(self._rule, str(error)), str(error))
        except (MessageError, ScrubRefused, FrameError) as error:
            self._fail(failed("bad-answer", f"the server's answer: {error}"), str(error))
        except BrokenOffError as error:
            self._fail(failed("broken", "the server broke off"), f"the server: {error}")
        except OSError:
            self._fail(failed("broken", "the connection broke"), "the connection broke")

    def _onlooker(self) -> Onlooker | None:
        watch = self.line.parts.watch
        return watch.watch(self.carried.admission) if watch is not None else None

    def _fail(self, refusal: Refusal, problem: str) -> None:
        self.keep = False
        self.carried.problem = self.carried.problem or problem
        self.refusal = self.refusal or refusal

    @property
    def _rule(self) -> str:
        return self.carried.admission.verdict.decision.rule

    async def _carry(self, onlooker: Onlooker | None) -> None:
        length = length_of(self.asked.headers) or 0
        if self.asked.has_body:
            self._check_upload(length)
        outgoing = plan_outgoing(
            self.asked,
            self.carried.admission.verdict.terms.injections,
            injector=self.line.parts.injector,
            onlooker=onlooker,
        )
        if outgoing.needs_body:
            outgoing.sign(await self._whole_body())
        answer = Answer(
            self.line,
            self.asked,
            self.carried,
            scrubber=outgoing.scrubber,
            onlooker=onlooker,
            wanted=self._wanted,
        )
        try:
            await self._on_some_connection(outgoing, answer)
        finally:
            self.begun, self.keep = answer.begun, answer.keep
            if answer.onlooker is not None:
                with anyio.CancelScope(shield=True):
                    await answer.onlooker.end(whole=False)

    def _check_upload(self, count: int) -> None:
        try:
            self.carried.meter.expect("upload", count)
        except OverLimitError as error:
            self.refusal = by_rule(self._rule, str(error), status=413)
            raise

    async def _whole_body(self) -> bytes:
        """Read the body before anything is sent: what it is, is a part of the head."""
        framed, event, body = self.asked.framed, self.asked.first, bytearray()
        while not isinstance(event, h11.EndOfMessage):
            if isinstance(event, h11.Data):
                body += event.data
                self._check_upload(len(body))
                if len(body) > MAX_SIGNED_BODY:
                    text = f"a body that is signed here may have {MAX_SIGNED_BODY} bytes"
                    self.refusal = by_rule(self._rule, text, status=413)
                    raise InjectionRefused(text)
            else:
                if framed.parser.they_are_waiting_for_100_continue:
                    await self._inform()
                await framed.more()
                self.carried.touch()
            try:
                event = framed.event()
            except MessageError as error:
                self.refusal = malformed(error.status, str(error))
                raise
        self._held = bytes(body)
        return self._held

    async def _on_some_connection(self, outgoing: Outgoing, answer: Answer) -> None:
        pool = self.line.pool
        upstream = await pool.take(self.asked.place, self.carried.admission)
        try:
            try:
                await self._over(upstream, outgoing, answer)
            except BrokenOffError as error:
                again = upstream.used and not error.started and not self.asked.has_body
                if not again or self.asked.method not in REPEATABLE:
                    raise
                await pool.drop(upstream)
                upstream = await pool.take(self.asked.place, self.carried.admission, fresh=True)
                await self._over(upstream, outgoing, answer)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await pool.drop(upstream)
            raise

    async def _over(self, upstream: Upstream, outgoing: Outgoing, answer: Answer) -> None:
        """Do the exchange on one connection, which is kept or dropped after it."""
        self.carried.address = upstream.address
        parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
        head = outgoing.render(parser)
        self.carried.meter.head("upload", len(head))
        if not self.asked.has_body:
            head += parser.send(h11.EndOfMessage()) or b""
            try:
                await upstream.reader.send(head)
            except OSError as error:
                raise BrokenOffError(started=False) from error
            await answer.pass_on(upstream, parser)
        else:
            await self._both(_Sending(upstream, parser, head), answer)
        if parser.our_state is h11.DONE and parser.their_state is h11.DONE:
            await self.line.pool.give_back(upstream)
        else:
            await self.line.pool.drop(upstream)

    async def _both(self, sending: _Sending, answer: Answer) -> None:
        """Send and hear the answer at one time; a whole answer ends the sending."""
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._upload, sending, tasks)
            try:
                await answer.pass_on(sending.upstream, sending.parser)
            except (OverLimitError, MessageError, ScrubRefused, FrameError, OSError) as error:
                failure = error
            tasks.cancel_scope.cancel()
        if self._stopped:
            raise BrokenOffError(started=True)
        if failure is not None:
            raise failure

    async def _upload(self, sending: _Sending, tasks: TaskGroup) -> None:
        """Send head and body; what the answer is does not wait for its end."""
        try:
            await self._send_body(sending)
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

    async def _send_body(self, sending: _Sending) -> None:
        framed, event, pending = self.asked.framed, self.asked.first, bytearray(sending.head)
        if self._held is not None:
            self.carried.meter.body("upload", len(self._held))
            pending += sending.parser.send(h11.Data(data=self._held)) or b""
            event = h11.EndOfMessage()
        while not isinstance(event, h11.EndOfMessage):
            if isinstance(event, h11.Data):
                self.carried.meter.body("upload", len(event.data))
                pending += sending.parser.send(event) or b""
            if pending and (event is None or len(pending) >= PIECE):
                await sending.upstream.reader.send(bytes(pending))
                pending.clear()
                self.carried.touch()
            if event is None:
                await self._await_word()
                await framed.more()
                self.carried.touch()
            event = framed.event()
        pending += sending.parser.send(h11.EndOfMessage()) or b""
        if pending:
            await sending.upstream.reader.send(bytes(pending))

    async def _await_word(self) -> None:
        """Let a client that waits for 100 have it: when the server says so, or says nothing."""
        if not self.asked.framed.parser.they_are_waiting_for_100_continue:
            return
        with anyio.move_on_after(self.line.parts.limits.continue_s):
            await self._wanted.wait()
        if self.asked.framed.parser.they_are_waiting_for_100_continue:
            await self._inform()

    async def _inform(self) -> None:
        told = h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
        await self.line.reader.send(self.asked.framed.parser.send(told) or b"")


@dataclass(frozen=True)
class _Sending:
    upstream: Upstream
    parser: h11.Connection
    head: bytes
