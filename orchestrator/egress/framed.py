"""One HTTP message as it arrives, head and body; h11 parses what the strict check let pass.

Each message has a parser of its own, which is given that message's bytes and no others: what
follows it goes back to the stream unread.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
import h11

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
    _recent: bytes = field(default=b"", repr=False)

    def fed(self, data: bytes) -> Framed:
        """Give the parser what came with the head, and return this."""
        if data:
            self._recent = data
            self.parser.receive_data(data)
        return self

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
            self._check_end(event)
        if not isinstance(event, h11.Data | h11.EndOfMessage):
            raise MessageError("something other than a body follows the head")
        return event

    async def more(self) -> None:
        """Give the parser what comes next; BrokenOffError."""
        data = await self.reader.receive()
        if data:
            self._recent = self._recent[-4:] + data
        elif not self._may_end:
            raise BrokenOffError(started=True)
        self.parser.receive_data(data)

    @property
    def _chunked(self) -> bool:
        return any(name.lower() == b"transfer-encoding" for name, _ in self.headers)

    @property
    def _may_end(self) -> bool:
        """Whether the end of the connection is the end of this body."""
        sized = any(name.lower() == b"content-length" for name, _ in self.headers)
        return self.parser.our_role is h11.CLIENT and not sized and not self._chunked

    def _check_end(self, end: h11.EndOfMessage) -> None:
        after = bytes(self.parser.trailing_data[0])
        if self._chunked:
            consumed = self._recent[: len(self._recent) - len(after)]
            if not consumed.endswith(b"\r\n\r\n"):
                raise MessageError("the last chunk ends with a bare CR or LF")
            if self.parser.our_role is h11.SERVER and list(end.headers):
                raise MessageError("fields after the body (trailers) are not carried")
        self.reader.unread(after)


async def read_request(
    reader: ReadAhead, *, keep_s: float, head_s: float
) -> tuple[h11.Request, Framed] | None:
    """Return the next request of a connection, its body unread; None at the connection's end.

    MessageError for what is no request in one meaning; TimeoutError where none comes.
    """
    scan, found = HeadScan(), None
    while found is None:
        with anyio.fail_after(head_s if scan.started else keep_s):
            piece = await reader.receive()
        if not piece:
            if scan.started:
                raise BrokenOffError(started=True)
            return None
        found = scan.feed(piece)
    head, after = found
    check_request_head(head)
    parser = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
    event = _parse(parser, head)
    if not isinstance(event, h11.Request):
        raise MessageError("no request")
    return event, Framed(parser, reader, tuple(event.headers.raw_items())).fed(after)


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
    return event, Framed(parser, reader, tuple(event.headers.raw_items())).fed(after)


def _parse(parser: h11.Connection, head: bytes) -> object:
    parser.receive_data(head)
    try:
        return parser.next_event()
    except h11.RemoteProtocolError as error:
        raise MessageError("the head is malformed") from error
