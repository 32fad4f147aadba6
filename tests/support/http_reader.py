"""HTTP read by llhttp, which Node.js reads with: a second opinion, strict, and not ours."""

from __future__ import annotations

from dataclasses import dataclass, field

import httptools


@dataclass
class Read:
    """One message as it was understood."""

    method: str = ""
    target: str = ""
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    whole: bool = False


class Reader:
    """Takes bytes of one direction, and keeps each message and whether all could be read."""

    def __init__(self, *, responses: bool = False) -> None:
        self.messages: list[Read] = []
        self.error = ""
        self.switched = False
        kind = httptools.HttpResponseParser if responses else httptools.HttpRequestParser
        self._parser = kind(self)

    def feed(self, data: bytes) -> None:
        """Read on; nothing more is read after an error."""
        if self.error or self.switched:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.switched = True
        except httptools.HttpParserError as error:
            self.error = str(error) or type(error).__name__

    def on_message_begin(self) -> None:
        self.messages.append(Read())

    def on_url(self, url: bytes) -> None:
        self.messages[-1].target += url.decode("latin-1")

    def on_header(self, name: bytes, value: bytes) -> None:
        self.messages[-1].headers.append((name, value))

    def on_headers_complete(self) -> None:
        last = self.messages[-1]
        if isinstance(self._parser, httptools.HttpRequestParser):
            last.method = self._parser.get_method().decode()
        else:
            last.status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        self.messages[-1].body += body

    def on_message_complete(self) -> None:
        self.messages[-1].whole = True


def read(data: bytes, *, responses: bool = False) -> Reader:
    """Return what all of the bytes are understood as."""
    reader = Reader(responses=responses)
    reader.feed(data)
    return reader
