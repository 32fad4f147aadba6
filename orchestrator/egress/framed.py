"""One HTTP message as it arrives, head and body; h11 parses what the strict check let pass.

Each message has a parser of its own, which is given that message's bytes and no others: what
follows it goes back to the stream unread.
"""

from __future__ import annotations

from dataclasses import dataclass

import anyio
import h11

from orchestrator.egress.chunks import ChunkCheck
from orchestrator.egress.reader import ReadAhead
from orchestrator.egress.seams import Headers
from orchestrator.egress.strict import (
    MAX_HEAD,
    HeadScan,
    MessageError,
    check_request_head,
    check_response_head,
)


class BrokenOffError(OSError):
    """The other end was gone before its message was whole."""

    def __init__(self, *, started: bool) -> None:
        """``started``: some of the message came."""
        super().__init__("the connection ended within a message" if started else "it was closed")
        self.started = started


@dataclass
class Framed:
    """A message's parser, and the stream that it comes by."""

    parser: h11.Connection
    reader: ReadAhead
    headers: Headers = ()
    _chunks: ChunkCheck | None = None

    def __post_init__(self) -> None:
        """Look at a body in chunks more closely."""
        if any(name.lower() == b"transfer-encoding" for name, _ in self.headers):
            self._chunks = ChunkCheck(padded=self.parser.our_role is h11.CLIENT)

    def feed(self, data: bytes) -> None:
        """Give the parser what came; MessageError for chunks that readers could see otherwise."""
        if self._chunks is not None:
            self._chunks.feed(data)
        self.parser.receive_data(data)

    def event(self) -> h11.Event | None:
        """Return the next part of the body that is here already; None where more has to come.

        MessageError for a body whose end readers could see at different places.
        """
        try:
            event = self.parser.next_event()
        except h11.RemoteProtocolError as error:
            raise MessageError("the body's framing is broken") from error
        if event is h11.NEED_DATA:
            return None
        if isinstance(event, h11.EndOfMessage):
            self._end()
        if not isinstance(event, h11.Data | h11.EndOfMessage):
            raise MessageError("something other than a body follows the head")
        return event

    async def more(self) -> None:
        """Give the parser what comes next; BrokenOffError."""
        data = await self.reader.receive()
        if not data and not self._may_end:
            raise BrokenOffError(started=True)
        self.feed(data)

    @property
    def _may_end(self) -> bool:
        """Whether the end of the connection is the end of this body."""
        sized = any(name.lower() == b"content-length" for name, _ in self.headers)
        return self.parser.our_role is h11.CLIENT and not sized and self._chunks is None

    def _end(self) -> None:
        chunks, after = self._chunks, bytes(self.parser.trailing_data[0])
        if chunks is not None:
            if not chunks.ended:
                raise MessageError("the body's end is in doubt")
            if chunks.trailers and self.parser.our_role is h11.SERVER:
                raise MessageError("fields after the body (trailers) are not carried")
        self.reader.unread(after)


async def read_request(
    reader: ReadAhead, *, keep_s: float, head_s: float
) -> tuple[h11.Request, Framed] | None:
    """Return the next request of a connection, its body unread; None at the connection's end.

    MessageError for what is no request in one meaning; TimeoutError where none comes.
    """
    scan = HeadScan()
    piece = await reader.receive(keep_s)
    if not piece:
        return None
    until = None
    while (found := scan.feed(piece)) is None:
        now = anyio.current_time()
        until = until or now + head_s
        piece = await reader.receive(max(0.0, until - now))
        if not piece:
            raise BrokenOffError(started=True)
    head, after = found
    check_request_head(head)
    parser = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
    event = _parse(parser, head)
    if not isinstance(event, h11.Request):
        raise MessageError("no request")
    framed = Framed(parser, reader, tuple(event.headers.raw_items()))
    if after:
        framed.feed(after)
    return event, framed


async def read_response(
    reader: ReadAhead, parser: h11.Connection
) -> tuple[h11.Response | h11.InformationalResponse, Framed]:
    """Return the next response head for what ``parser`` sent.

    MessageError for what is no response in one meaning, BrokenOffError.
    """
    scan, found = HeadScan(), None
    while found is None:
        try:
            piece = await reader.receive()
        except OSError as error:
            raise BrokenOffError(started=scan.started) from error
        if not piece:
            raise BrokenOffError(started=scan.started)
        found = scan.feed(piece)
    head, after = found
    check_response_head(head)
    event = _parse(parser, head)
    if isinstance(event, h11.InformationalResponse):
        reader.unread(after)
        return event, Framed(parser, reader, tuple(event.headers.raw_items()))
    if not isinstance(event, h11.Response):
        raise MessageError("no response")
    framed = Framed(parser, reader, tuple(event.headers.raw_items()))
    if after:
        framed.feed(after)
    return event, framed


def _parse(parser: h11.Connection, head: bytes) -> object:
    parser.receive_data(head)
    try:
        return parser.next_event()
    except h11.RemoteProtocolError as error:
        raise MessageError("the head is malformed") from error
