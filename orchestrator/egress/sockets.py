"""The real ends of the seams: TCP sockets, the host's resolver, connections to addresses.

``scripted`` has the stand-ins. Nothing here decides anything, and nothing looks up a name but
``HostResolver``.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections import deque
from collections.abc import Sequence
from functools import partial

import anyio
from anyio import to_thread

from orchestrator.egress.seams import ResolveError

BUFFERED = 256 * 1024
"""Bytes that may wait unread before the socket is read no further."""
LOOKUP_S = 10.0
LOOKUPS = 16
"""Look-ups at one time: a resolver that hangs takes no thread from anybody else."""


class SocketStream(asyncio.Protocol):
    """A connected socket as a ByteStream: what is not received stops the sender at the far end."""

    def __init__(self) -> None:
        """Wait for ``connection_made``."""
        self._transport: asyncio.Transport | None = None
        self._arrived: deque[bytes] = deque()
        self._waiting = 0
        self._ended = False
        self._failure: OSError | None = None
        self._readable = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()

    async def receive(self) -> bytes:
        """Return what came next; empty when nothing more will."""
        while not self._arrived:
            if self._failure is not None:
                raise self._failure
            if self._ended:
                return b""
            self._readable.clear()
            await self._readable.wait()
        data = self._arrived.popleft()
        self._waiting -= len(data)
        if self._waiting < BUFFERED and self._transport and not self._transport.is_closing():
            self._transport.resume_reading()
        return data

    async def send(self, data: bytes, *, last: bool = False) -> None:
        """Return when the kernel has taken all of it."""
        transport = self._transport
        if transport is None or transport.is_closing():
            raise self._failure or BrokenPipeError("the connection is closed")
        transport.write(data)
        if not self._writable.is_set():
            await self._writable.wait()
        if self._failure is not None:
            raise self._failure
        if last and transport.can_write_eof() and not transport.is_closing():
            transport.write_eof()

    async def close(self) -> None:
        """Let go of it; what the kernel took is still delivered."""
        if self._transport is not None:
            self._transport.close()
        self._end(BrokenPipeError("the connection is closed"))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport; it keeps nothing back that ``send`` called sent."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - narrows for mypy
        self._transport = transport
        transport.set_write_buffer_limits(high=0)

    def data_received(self, data: bytes) -> None:
        """Keep it until it is received."""
        self._arrived.append(data)
        self._waiting += len(data)
        if self._waiting >= BUFFERED and self._transport is not None:
            self._transport.pause_reading()
        self._readable.set()

    def eof_received(self) -> bool:
        """Note the end; the other direction stays open."""
        self._ended = True
        self._readable.set()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake whoever waits."""
        if isinstance(exc, OSError):
            self._end(exc)
        elif not self._ended:
            self._end(ConnectionResetError("the connection was lost"))
        self._writable.set()

    def pause_writing(self) -> None:
        """Let senders wait."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let them go on."""
        self._writable.set()

    def _end(self, failure: OSError) -> None:
        self._failure = self._failure or failure
        self._readable.set()
        self._writable.set()


class AddressDialer:
    """Connects to addresses, never to names."""

    async def dial(self, address: str, port: int) -> SocketStream:
        """Return an open connection to exactly this address; OSError where there is none."""
        try:
            version = ipaddress.ip_address(address).version
        except ValueError as error:
            raise OSError(f"not an address: {address!r}") from error
        loop = asyncio.get_running_loop()
        made = socket.socket(socket.AF_INET6 if version == 6 else socket.AF_INET)
        try:
            made.setblocking(False)
            await loop.sock_connect(made, (address, port))
            _transport, stream = await loop.create_connection(SocketStream, sock=made)
        except BaseException:
            made.close()
            raise
        return stream


class HostResolver:
    """Asks the host's own resolver, in a thread."""

    def __init__(self, *, seconds: float = LOOKUP_S) -> None:
        """Give each look-up so many seconds."""
        self._seconds = seconds
        self._limiter: anyio.CapacityLimiter | None = None

    async def resolve(self, host: str) -> Sequence[str]:
        """Return each address once, in the resolver's order; ResolveError without any."""
        self._limiter = self._limiter or anyio.CapacityLimiter(LOOKUPS)
        try:
            name = host.encode("ascii")
            look_up = partial(socket.getaddrinfo, name, None, type=socket.SOCK_STREAM)
            with anyio.fail_after(self._seconds):
                found = await to_thread.run_sync(
                    look_up, abandon_on_cancel=True, limiter=self._limiter
                )
        except TimeoutError as error:
            raise ResolveError(f"no answer for {host} within {self._seconds:g} s") from error
        except (OSError, UnicodeError) as error:
            raise ResolveError(f"{host} has no address: {error}") from error
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))
