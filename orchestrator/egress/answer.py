"""The answer to one admitted request: read strictly, cleaned, counted, and framed anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import anyio
import h11

from orchestrator.egress import websocket
from orchestrator.egress.asked import Asked
from orchestrator.egress.framed import Framed, read_response
from orchestrator.egress.hops import end_to_end, length_of
from orchestrator.egress.inject.response import ResponseScrubber
from orchestrator.egress.line import Line
from orchestrator.egress.live import Carried
from orchestrator.egress.seams import Headers, Onlooker
from orchestrator.egress.splice import Splice
from orchestrator.egress.strict import MessageError
from orchestrator.egress.upstream import Upstream

PIECE = 256 * 1024
"""Bytes that are gathered before they are sent, where more is there already."""
MAX_INFORMATIONAL = 16


@dataclass
class Answer:
    """Passes one answer on; ``begun`` and ``keep`` tell afterwards how far that came."""

    line: Line
    asked: Asked
    carried: Carried
    scrubber: ResponseScrubber | None = None
    onlooker: Onlooker | None = None
    wanted: anyio.Event = field(default_factory=anyio.Event)
    """The server said that it wants the body."""
    begun: bool = False
    """The box got a part of the answer already."""
    keep: bool = False
    """The box may send another request on its connection."""
    _pending: bytearray = field(default_factory=bytearray)

    async def pass_on(self, upstream: Upstream, parser: h11.Connection) -> None:
        """Pass on the answer to what ``parser`` sent.

        MessageError, ScrubRefused and FrameError for what may not reach the box, OverLimitError,
        OSError where either side breaks off.
        """
        for _ in range(MAX_INFORMATIONAL):
            head, framed = await read_response(upstream.reader, parser)
            self.carried.touch()
            if isinstance(head, h11.Response):
                await self._pass(head, framed)
                return
            if head.status_code == 101:
                await self._switch(upstream, head)
                return
            if head.status_code == 100:
                self.wanted.set()
        raise MessageError(f"more than {MAX_INFORMATIONAL} interim answers")

    async def _pass(self, head: h11.Response, framed: Framed) -> None:
        self.carried.status = head.status_code
        server = self.asked.framed.parser
        event = framed.event()
        reason, headers = self._clean_head(head.status_code, head.reason, framed.headers)
        if self.onlooker is not None:
            self.onlooker.response(head.status_code, headers)
        length = length_of(headers)
        if length and not isinstance(event, h11.EndOfMessage):
            self.carried.meter.expect("download", length)
        answer = h11.Response(status_code=head.status_code, headers=list(headers), reason=reason)
        self._pending += server.send(answer) or b""
        self.carried.meter.head("download", len(self._pending))
        while not isinstance(event, h11.EndOfMessage):
            if isinstance(event, h11.Data):
                for piece in self._clean_body(bytes(event.data)):
                    await self._put(piece)
            if event is None:
                await self._flush()
                await framed.more()
                self.carried.touch()
            event = framed.event()
            # The last piece goes out with the end, once who looks on has heard of that: a client
            # that counted the bytes would act on a page that nobody has read yet.
            if len(self._pending) >= PIECE and not isinstance(event, h11.EndOfMessage):
                await self._flush()
        await self._end()

    async def _end(self) -> None:
        server = self.asked.framed.parser
        rest = self.scrubber.end() if self.scrubber is not None else b""
        if rest:
            await self._put(rest)
        if self.onlooker is not None:
            await self.onlooker.end(whole=True)
            self.onlooker = None
        self._pending += server.send(h11.EndOfMessage()) or b""
        await self._flush()
        self.keep = server.our_state is h11.DONE and server.their_state is h11.DONE

    def _clean_head(self, status: int, reason: bytes, headers: Headers) -> tuple[bytes, Headers]:
        headers = end_to_end(headers)
        if self.scrubber is None:
            return reason, headers
        return self.scrubber.head(status, reason, headers)

    def _clean_body(self, data: bytes) -> Iterator[bytes]:
        if self.scrubber is None:
            yield data
        else:
            yield from self.scrubber.body(data)

    async def _put(self, data: bytes) -> None:
        """Count a piece of the body, and send it on when there is enough.

        Where only a part of it may pass, that part is sent, and OverLimitError raised.
        """
        meter, server = self.carried.meter, self.asked.framed.parser
        room = meter.room("download", len(data))
        meter.body("download", room)
        if room:
            self._pending += server.send(h11.Data(data=data[:room])) or b""
            if self.onlooker is not None:
                self.onlooker.data(data[:room])
        if room < len(data):
            await self._flush()
            meter.expect("download", len(data) - room)

    async def _switch(self, upstream: Upstream, head: h11.InformationalResponse) -> None:
        """Pass on a verified switch to WebSocket, and then bytes."""
        if not self.asked.upgrade:
            raise MessageError("it switches protocols unasked")
        answer: Headers = tuple(head.headers.raw_items())
        websocket.check_switch(self.asked.headers, answer)
        self.carried.status = 101
        _, headers = self._clean_head(101, b"", answer)
        lines = [name + b": " + value for name, value in websocket.switching(headers)]
        self._pending += b"\r\n".join([b"HTTP/1.1 101 Switching Protocols", *lines, b"", b""])
        self.carried.meter.head("download", len(self._pending))
        await self._flush()
        self.line.life.spliced = True
        self.carried.idle_s = self.line.parts.limits.tunnel_idle_s
        self.carried.touch()
        clean = self.scrubber.websocket().feed if self.scrubber is not None else None
        await Splice(self.line.reader, upstream.reader, self.carried, clean).run()

    async def _flush(self) -> None:
        if not self._pending:
            return
        data = bytes(self._pending)
        self._pending.clear()
        self.begun = True
        await self.line.reader.send(data)
        self.carried.touch()
