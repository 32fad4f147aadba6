"""TLS over any ByteStream, either side of it, with as much in memory as one piece takes."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

from orchestrator.egress.seams import ByteStream

_PIECE = 65_536
"""Plain bytes that are encrypted, or read, at once."""


class TlsError(OSError):
    """Raised when the TLS of a connection fails; the text is safe to show."""


class TruncatedError(TlsError):
    """Raised when the other end was gone without having said that it was done."""


class TlsStream:
    """The plain side of a connection; a ByteStream like the one below it."""

    def __init__(self, stream: ByteStream, context: ssl.SSLContext, name: str | None) -> None:
        """Be the client of the server ``name``, or a server where it is None; ``start`` comes next."""
        self._stream = stream
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, name is None, name)
        # Of asyncio: on the way of every piece, and free nearly always.
        self._sending = asyncio.Lock()
        self._early = bytearray()
        self._ended = False

    async def start(self) -> None:
        """Shake hands. TlsError where that fails, after the other end was told why."""
        try:
            while not self._step():
                await self._flush()
                if not await self._more():
                    raise TruncatedError("the other end left before TLS was agreed on")
        except ssl.SSLError as error:
            with contextlib.suppress(OSError):
                await self._flush()
            raise _worded(error) from error
        await self._flush()

    async def receive(self) -> bytes:
        """Return what came; empty once the other end said it was done. TruncatedError, TlsError."""
        data: bytes | None
        if self._early:
            data = bytes(self._early)
            self._early.clear()
            return data
        while not self._ended:
            try:
                data = self._tls.read(_PIECE) if self._has_more else None
            except ssl.SSLWantReadError:
                data = None
            except ssl.SSLZeroReturnError:
                break
            except ssl.SSLEOFError as error:
                raise TruncatedError("the other end left in the middle of what it sent") from error
            except ssl.SSLError as error:
                raise _worded(error) from error
            if data is None:
                # A sender that waits flushes all there is; to wait for it here could be for ever.
                if self._out.pending and not self._sending.locked():
                    await self._flush()
                await self._more()
                continue
            if data:
                return data
            break
        self._ended = True
        return b""

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Send as the other end takes it; ``last`` says with a close_notify that no more follows."""
        view = memoryview(data)
        for at in range(0, len(view), _PIECE):
            try:
                self._tls.write(view[at : at + _PIECE])
            except ssl.SSLError as error:
                raise _worded(error) from error
            await self._flush()
        if last:
            self._say_done()
            await self._flush(last=True)

    async def close(self) -> None:
        """Let go of both streams at once."""
        await self._stream.close()

    @property
    def peer_certificate(self) -> bytes | None:
        """The other end's certificate, DER, once it was verified."""
        return self._tls.getpeercert(binary_form=True)

    @property
    def protocol(self) -> str | None:
        """The protocol agreed on by ALPN."""
        return self._tls.selected_alpn_protocol()

    @property
    def version(self) -> str | None:
        """The version of TLS agreed on, such as ``TLSv1.3``."""
        return self._tls.version()

    @property
    def _has_more(self) -> bool:
        """Whether there is something to read, or to learn that it ended; asking is quicker."""
        return bool(self._in.pending or self._in.eof or self._tls.pending())

    def _step(self) -> bool:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    async def _more(self) -> bool:
        """Feed what comes next to TLS; say whether there was anything."""
        data = await self._stream.receive()
        if data:
            self._in.write(data)
        else:
            self._in.write_eof()
        return bool(data)

    async def _flush(self, *, last: bool = False) -> None:
        # Under the lock, so that a key update answered by the reader does not overtake a record.
        async with self._sending:
            while data := self._out.read(_PIECE):
                await self._stream.send(data)
            if last:
                await self._stream.send(b"", last=True)

    def _say_done(self) -> None:
        # What came already is taken out first: OpenSSL takes data after its own close for an error.
        with contextlib.suppress(ssl.SSLError):
            while data := self._tls.read(_PIECE):
                self._early += data
        with contextlib.suppress(ssl.SSLError):
            self._tls.unwrap()


def _worded(error: ssl.SSLError) -> TlsError:
    reason = (error.reason or type(error).__name__).replace("_", " ").lower()
    return TlsError(f"TLS failed: {reason}")
