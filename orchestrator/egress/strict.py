"""What a message's head must be before anything reads it: one meaning, for every reader.

h11 parses what passes here. It is lenient in places where servers differ (bare line feeds, folded
lines, repeated headers), and each difference could hide a second request.
"""

from __future__ import annotations

import re

from orchestrator.policy.request_line import METHOD, TARGET

MAX_HEAD = 64 * 1024
"""Bytes of a head, with its last empty line; the largest that common servers take."""
MAX_LINES = 256
MAX_LENGTH_DIGITS = 18
"""Of a Content-Length: no reader's integers overflow."""

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REQUEST_LINE = re.compile(rf"({METHOD}) ({TARGET}) HTTP/1\.([01])".encode())
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9]{2})(?: ([\t\x20-\x7e\x80-\xff]*))?")
_HEADER = re.compile(rb"(%s):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)" % _TOKEN)
_NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LENGTH = re.compile(rb"[0-9]{1,%d}" % MAX_LENGTH_DIGITS)

_ONCE = (b"host", b"content-length", b"transfer-encoding", b"upgrade", b"expect")
_FRAMING = (b"host", b"content-length", b"transfer-encoding", b"connection", b"expect", b"upgrade")


class MessageError(ValueError):
    """A message that could be read in two ways, or in none; the text is safe to show."""

    def __init__(self, text: str, *, status: int = 400) -> None:
        """Say what is wrong, and with which status to say so."""
        super().__init__(text)
        self.status = status


class HeadScan:
    """Collects a head as it arrives, each byte looked at once."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._data = bytearray()
        self._checked = 0

    def feed(self, piece: bytes) -> tuple[bytes, bytes] | None:
        """Return the whole head and what follows it; None where its end is not there yet.

        MessageError as soon as it is too long, or nothing that may become a head.
        """
        data = self._data
        data += piece
        if data and not 0x21 <= data[0] < 0x7F:
            raise MessageError("the first byte begins no HTTP/1.1 message")
        end = data.find(b"\r\n\r\n", max(0, self._checked - 3), MAX_HEAD)
        if end >= 0:
            return bytes(data[: end + 4]), bytes(data[end + 4 :])
        if len(data) >= MAX_HEAD:
            raise MessageError(f"the head is longer than {MAX_HEAD} bytes", status=431)
        whole = len(data) - data.endswith(b"\r")
        check_lines(data[self._checked : whole])
        self._checked = whole
        return None

    @property
    def started(self) -> bool:
        """Whether anything arrived."""
        return bool(self._data)


def check_lines(data: bytes | bytearray) -> None:
    """Raise MessageError for a line that does not end with CRLF, or a control byte."""
    if data.count(b"\n") != data.count(b"\r\n") or data.count(b"\r") != data.count(b"\r\n"):
        raise MessageError("a line ends with a bare CR or LF")
    if _NO_TEXT.search(data):
        raise MessageError("a control byte in the head")


def check_request_head(head: bytes) -> None:
    """Raise MessageError unless every reader takes this request for the same one."""
    first, headers = _split(head)
    line = _REQUEST_LINE.fullmatch(first)
    if line is None:
        raise MessageError("the request line is not METHOD TARGET HTTP/1.1")
    minor = line[3]
    if line[1] == b"PRI":
        raise MessageError("HTTP/2 is not spoken here", status=505)
    hosts = headers.get(b"host", ())
    if len(hosts) != 1 and (minor == b"1" or hosts):
        raise MessageError("there must be exactly one Host header")
    _check_framing(headers, minor)
    if b"http2-settings" in headers or b"h2c" in _tokens(headers.get(b"upgrade", ())):
        raise MessageError("an upgrade to HTTP/2 is not carried out")


def check_response_head(head: bytes) -> None:
    """Raise MessageError unless every reader takes this response for the same one."""
    first, headers = _split(head)
    line = _STATUS_LINE.fullmatch(first)
    if line is None:
        raise MessageError("the status line is not HTTP/1.1 STATUS REASON")
    _check_framing(headers, line[1])
    if line[2].startswith(b"1") or line[2] == b"204":
        if b"transfer-encoding" in headers:
            raise MessageError("an answer that has no body has a Transfer-Encoding")
        if headers.get(b"content-length", [b"0"]) != [b"0"]:
            raise MessageError("an answer that has no body has a Content-Length")


def _split(head: bytes) -> tuple[bytes, dict[bytes, list[bytes]]]:
    check_lines(head)
    first, *lines = head[:-4].split(b"\r\n")
    if len(lines) > MAX_LINES:
        raise MessageError(f"more than {MAX_LINES} header lines", status=431)
    headers: dict[bytes, list[bytes]] = {}
    for line in lines:
        if line[:1] in {b" ", b"\t"}:
            raise MessageError("a header is folded over two lines")
        found = _HEADER.fullmatch(line)
        if found is None:
            raise MessageError("a header line is not NAME: VALUE")
        headers.setdefault(found[1].lower(), []).append(found[2].rstrip(b" \t"))
    for name in headers:
        # CGI and its heirs read Content_Length as Content-Length.
        if b"_" in name and name.replace(b"_", b"-") in _FRAMING:
            raise MessageError("a header's name is one of the framing's, with an underscore")
    for name in _ONCE:
        if len(headers.get(name, ())) > 1:
            raise MessageError(f"more than one {name.decode().title()} header")
    return first, headers


def _check_framing(headers: dict[bytes, list[bytes]], minor: bytes) -> None:
    lengths, codings = headers.get(b"content-length"), headers.get(b"transfer-encoding")
    if lengths and codings:
        raise MessageError("both Content-Length and Transfer-Encoding")
    if lengths and not _LENGTH.fullmatch(lengths[0]):
        raise MessageError("Content-Length is no plain number")
    if codings and (codings[0].lower() != b"chunked" or minor == b"0"):
        raise MessageError("Transfer-Encoding is not chunked alone", status=501)


def _tokens(values: list[bytes] | tuple[bytes, ...]) -> list[bytes]:
    return [part.strip(b" \t").lower() for value in values for part in value.split(b",")]
