"""The answer to a request that had a credential: read, cleaned of it, and passed on."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from orchestrator.egress.inject.cookies import SeenCookies
from orchestrator.egress.inject.echoes import Echoes, EchoStream
from orchestrator.egress.inject.frames import FrameScrubber
from orchestrator.egress.seams import Headers

_PIECE = 256 * 1024
_PIECES = frozenset((206, 226))
"""Statuses of a range of something, and of what changed in it."""
_ZIPPED = frozenset((b"gzip", b"x-gzip", b"deflate"))
_PLAIN = frozenset((b"", b"identity"))
_OF_THE_CODED = frozenset(
    (b"content-encoding", b"content-length", b"content-md5", b"digest", b"content-digest")
)
"""Headers that say something of the bytes as they were compressed."""


class ScrubRefused(ValueError):  # noqa: N818 - reads as what it is
    """Raised when an answer cannot be cleaned; the text is safe to show."""


class ResponseScrubber:
    """Cleans one answer, head first. Lengths stay as they were, unless ``decoded``."""

    def __init__(
        self, echoes: Echoes, host: str, cookies: SeenCookies, *, whole: bool = True
    ) -> None:
        """Look for ``echoes`` in what ``host`` answers, and note the cookies that it sets.

        ``whole``: an answer that is a piece is none; a secret could come out a piece at a time.
        """
        self._whole = whole
        self._echoes = echoes
        self._stream = EchoStream(echoes)
        self._host = host
        self._cookies = cookies
        self._inflate: zlib._Decompress | None = None
        self._fed = False
        self._packed, self._plain = bytearray(), bytearray()
        """As it came, and unpacked: of what is not surely clean yet."""

    @property
    def decoded(self) -> bool:
        """Whether the body is unpacked here, so that it has another length than was announced."""
        return self._inflate is not None and self._whole

    def head(self, status: int, reason: bytes, headers: Headers) -> tuple[bytes, Headers]:
        """Return the status line's reason and the headers, clean. ScrubRefused.

        Where the body has to be unpacked, what announced its length is gone from them.
        """
        if self._whole and status in _PIECES:
            raise ScrubRefused(
                "it is a piece of an answer, though none was asked for, so a credential in it "
                "could not be known again"
            )
        reason, clean = self._clean(reason, headers)
        for name, value in clean:
            if name.lower() == b"set-cookie":
                self._cookies.note(self._host, value.decode("latin-1"))
        coding = b",".join(
            value.strip().lower() for name, value in clean if name.lower() == b"content-encoding"
        )
        if coding not in _PLAIN and status not in {204, 304}:
            self._unpack(coding, status)
            if self.decoded:
                clean = tuple(item for item in clean if item[0].lower() not in _OF_THE_CODED)
        return reason, clean

    def body(self, data: bytes) -> Iterator[bytes]:
        """Yield what of the body is surely clean by now, in bounded pieces. ScrubRefused."""
        as_it_is = self._inflate is not None and not self.decoded
        if as_it_is:
            self._packed += data
        for piece in self._unpacked(data):
            clean = self._stream.feed(piece)
            if as_it_is:
                self._plain += piece
                self._require_same(clean)
            elif clean:
                yield clean
        if as_it_is and not self._plain:
            yield self._all_packed()

    def end(self) -> bytes:
        """Return the rest of the body. ScrubRefused where it was packed and is not whole."""
        if self._inflate is not None and not self._inflate.eof and self._fed:
            raise ScrubRefused("the server's compressed answer ends too early")
        rest = self._stream.end()
        if self._inflate is None or self.decoded:
            return rest
        self._require_same(rest)
        return self._all_packed()

    def _require_same(self, clean: bytes) -> None:
        """Who was sent no secret may pack files as they are to be kept: they pass untouched."""
        if not self._plain.startswith(clean):
            raise ScrubRefused("a credential of this session is in what the server compressed")
        del self._plain[: len(clean)]

    def _all_packed(self) -> bytes:
        packed = bytes(self._packed)
        self._packed.clear()
        return packed

    def websocket(self) -> FrameScrubber:
        """Return what cleans the server's frames after a 101."""
        return FrameScrubber(self._echoes)

    def _clean(self, reason: bytes, headers: Headers) -> tuple[bytes, Headers]:
        # In one look, since most heads hold nothing.
        whole = b"\x01".join((reason, *(part for item in headers for part in item)))
        scrub = self._echoes.scrub
        if scrub(whole) == whole:
            return reason, headers
        return scrub(reason), tuple((scrub(name), scrub(value)) for name, value in headers)

    def _unpack(self, coding: bytes, status: int) -> None:
        if coding not in _ZIPPED:
            raise ScrubRefused(
                f"the server's answer is encoded as {coding.decode('latin-1')[:40]!r}, though plain "
                "bytes were asked for, so the credential cannot be looked for in it"
            )
        if status == 206:
            raise ScrubRefused("the server's answer is a part of something compressed")
        self._inflate = zlib.decompressobj(47 if coding != b"deflate" else 15)

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        if self._inflate is None:
            yield data
            return
        self._fed = self._fed or bool(data)
        while data:
            if self._inflate.eof:
                raise ScrubRefused("something follows the server's compressed answer")
            try:
                yield self._inflate.decompress(data, _PIECE)
            except zlib.error as error:
                raise ScrubRefused(f"the server's compressed answer is damaged: {error}") from error
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
