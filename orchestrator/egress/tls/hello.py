"""The first message of a TLS client, read before anything is answered.

Strict: whatever is not a well-formed ClientHello is refused, since a server might read it in
another way than we do. Nothing after the message is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.egress.seams import ByteStream
from orchestrator.egress.tls.replay import ReplayedStream

MAX_HELLO = 65_536
"""Bytes; real ones, post-quantum key shares included, are below 4 KiB."""

_HANDSHAKE = 22
_CLIENT_HELLO = 1
_MAX_RECORD = 16_384
_SERVER_NAME, _ALPN, _SUPPORTED_VERSIONS, _ECH = 0, 16, 43, 0xFE0D
_DRAFT_ESNI = 0xFFCE
"""What ECH was called first; servers that still read it exist."""
_OUTER = 0
"""Type byte of the outer ECH extension."""


class HelloError(ValueError):
    """Raised when what came is no ClientHello; the text is safe to show."""


@dataclass(frozen=True, slots=True)
class ClientHello:
    """What a client asks for before anything is encrypted."""

    server_name: str | None
    """As sent; None where there is none."""
    alpn: tuple[str, ...]
    """Protocols offered, as latin-1 text."""
    encrypted: bool
    """Whether a second, encrypted name is inside, which only the server can read."""
    versions: tuple[int, ...]
    """Protocol versions offered, such as 0x0304 for TLS 1.3."""


class HelloReader:
    """Puts a ClientHello together from pieces; each byte is looked at once."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.seen = bytearray()
        """All bytes that were fed, those after the message too."""
        self._message = bytearray()
        self._next = 0
        """Where the next record's header is in ``seen``."""

    def feed(self, data: bytes) -> ClientHello | None:
        """Take the next bytes; return the ClientHello once it is whole, None when more is needed.

        Raises HelloError as soon as it can be none.
        """
        before = len(self.seen)
        self.seen += data
        while True:
            header = self.seen[self._next : self._next + 5]
            _check_record(header)
            if len(header) < 5:
                break
            end = self._next + 5 + int.from_bytes(header[3:5])
            self._message += self.seen[max(self._next + 5, before) : end]
            whole = self._length()
            if whole is not None and len(self._message) == whole:
                return _parse_body(_Reader(bytes(self._message[4:])))
            if end > len(self.seen):
                break
            self._next, before = end, end
        if len(self.seen) >= MAX_HELLO:
            raise HelloError(f"the ClientHello is longer than {MAX_HELLO} bytes")
        return None

    def _length(self) -> int | None:
        """Return the length of the whole message, None where that is not known yet."""
        if self._message and self._message[0] != _CLIENT_HELLO:
            raise HelloError("the first TLS message is no ClientHello")
        if len(self._message) < 4:
            return None
        whole = 4 + int.from_bytes(self._message[1:4])
        if whole > MAX_HELLO:
            raise HelloError(f"the ClientHello is longer than {MAX_HELLO} bytes")
        if len(self._message) > whole:
            raise HelloError("something follows the ClientHello in its own record")
        return whole


def parse_hello(data: bytes) -> ClientHello | None:
    """Return the ClientHello that the bytes begin with; None when more is needed. HelloError."""
    return HelloReader().feed(data)


async def read_hello(stream: ByteStream) -> tuple[ClientHello, ByteStream]:
    """Return a stream's ClientHello, and the stream with its bytes put back in front.

    Raises HelloError, and OSError where the stream broke.
    """
    reader = HelloReader()
    while piece := await stream.receive():
        hello = reader.feed(piece)
        if hello is not None:
            return hello, ReplayedStream(stream, bytes(reader.seen))
    raise HelloError(
        "the connection ended before the ClientHello was whole"
        if reader.seen
        else "the connection ended before anything was sent"
    )


def _check_record(header: bytes | bytearray) -> None:
    """Refuse what begins no record of a handshake, as soon as its bytes are there."""
    if header and header[0] != _HANDSHAKE:
        raise HelloError(f"expected TLS, got {_what(header)}")
    if header[1:2] not in (b"", b"\x03") or header[2:3] > b"\x04":
        raise HelloError("expected a record of TLS, got one of an unknown version")
    if len(header) == 5 and not 0 < int.from_bytes(header[3:5]) <= _MAX_RECORD:
        raise HelloError("a TLS record is empty or too long")


def _what(data: bytes | bytearray) -> str:
    if data[:1] and data[0] & 0x80 and data[2:3] == b"\x01":
        return "SSL 2"
    if data[:3] == b"SSH"[: len(data)]:
        return "SSH"
    return "text" if data[:1].isalpha() else "something else"


def _parse_body(body: _Reader) -> ClientHello:
    legacy = body.number(2)
    if not 0x0300 < legacy <= 0x0303:
        raise HelloError("the ClientHello is of an unknown version")
    body.take(32)
    if len(body.block(1)) > 32:
        raise HelloError("the session id is too long")
    if not (suites := body.block(2)) or len(suites) % 2:
        raise HelloError("the list of ciphers is malformed")
    if b"\0" not in body.block(1):
        raise HelloError("the client does not take uncompressed data")
    found = dict(_extensions(body))
    versions = _versions(found[_SUPPORTED_VERSIONS]) if _SUPPORTED_VERSIONS in found else (legacy,)
    return ClientHello(
        server_name=_server_name(found[_SERVER_NAME]) if _SERVER_NAME in found else None,
        alpn=_alpn(found[_ALPN]) if _ALPN in found else (),
        encrypted=_ECH in found or _DRAFT_ESNI in found,
        versions=versions,
    )


def _extensions(body: _Reader) -> Iterator[tuple[int, bytes]]:
    if body.done:
        return
    block = _Reader(body.block(2))
    body.end()
    seen: set[int] = set()
    while not block.done:
        kind = block.number(2)
        if kind in seen:
            raise HelloError("an extension comes twice")
        seen.add(kind)
        yield kind, block.block(2)


def _server_name(data: bytes) -> str:
    outer = _Reader(data)
    names = _Reader(outer.block(2))
    outer.end()
    if names.number(1) != 0:
        raise HelloError("the server's name is of an unknown kind")
    name = names.block(2)
    names.end()
    if not name or len(name) > 255 or not all(0x21 <= byte < 0x7F for byte in name):
        raise HelloError("the server's name is no name")
    return name.decode("ascii")


def _alpn(data: bytes) -> tuple[str, ...]:
    outer = _Reader(data)
    names = _Reader(outer.block(2))
    outer.end()
    found: list[str] = []
    while not names.done:
        name = names.block(1)
        if not name:
            raise HelloError("a protocol offered has no name")
        found.append(name.decode("latin-1"))
    if not found:
        raise HelloError("the list of protocols is empty")
    return tuple(found)


def _versions(data: bytes) -> tuple[int, ...]:
    outer = _Reader(data)
    block = outer.block(1)
    outer.end()
    if not block or len(block) % 2:
        raise HelloError("the list of versions is malformed")
    return tuple(int.from_bytes(block[at : at + 2]) for at in range(0, len(block), 2))


class _Reader:
    """Takes bytes off the front; HelloError where there are too few."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at == len(self._data)

    def take(self, count: int) -> bytes:
        if self._at + count > len(self._data):
            raise HelloError("a length in the ClientHello goes past its end")
        piece = self._data[self._at : self._at + count]
        self._at += count
        return piece

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size))

    def block(self, size: int) -> bytes:
        """Return a block that begins with its length, of ``size`` bytes."""
        return self.take(self.number(size))

    def end(self) -> None:
        if not self.done:
            raise HelloError("something is left over in the ClientHello")
