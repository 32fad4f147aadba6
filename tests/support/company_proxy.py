"""A company's proxy on loopback: strict about what it is sent, with a world of its own behind it."""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

_CONNECT = re.compile(
    rb"CONNECT (\S+) HTTP/1\.1\r\nHost: (\S+)\r\n(?:Proxy-Authorization: (.*)\r\n)?\r\n"
)


@dataclass
class CompanyProxyServer:
    """What it was asked for, connection by connection, and how it answers."""

    places: Mapping[str, int]
    """``HOST:PORT`` as CONNECT may name it, and the port of 127.0.0.1 that it leads to."""
    login: str | None = None
    answer: bytes | None = None
    """Said to every CONNECT in place of an answer of its own."""
    port: int = 0
    asked: list[str] = field(default_factory=list)
    connections: int = 0
    inside: bytearray = field(default_factory=bytearray)
    """All bytes that clients sent into tunnels."""

    def verdict(self, target: str, authorization: bytes | None) -> bytes:
        if self.answer is not None:
            return self.answer
        if self.login is not None:
            expected = b"Basic " + base64.b64encode(self.login.encode())
            if authorization != expected:
                return (
                    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
                    b"Proxy-Authenticate: Basic realm=corp\r\nContent-Length: 6\r\n\r\nsecret"
                )
        if target not in self.places:
            return b"HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\nsecret"
        return b"HTTP/1.1 200 OK\r\n\r\n"


@asynccontextmanager
async def company_proxy_server(
    places: Mapping[str, int],
    *,
    login: str | None = None,
    answer: bytes | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[CompanyProxyServer]:
    """Serve until the end of the block; every connection serves one CONNECT."""
    found = CompanyProxyServer(places, login, answer)
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        found.connections += 1
        try:
            await _serve(found, reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _serve(
    found: CompanyProxyServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    asked = _CONNECT.fullmatch(head)
    if asked is None or asked[1] != asked[2]:
        found.asked.append(f"odd: {head!r}")
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        return
    target = asked[1].decode()
    found.asked.append(target)
    verdict = found.verdict(target, asked[3])
    writer.write(verdict)
    await writer.drain()
    if not verdict.startswith(b"HTTP/1.1 200") or target not in found.places:
        return
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", found.places[target])
    try:
        await asyncio.gather(
            _copy(reader, far_writer, found.inside), _copy(far_reader, writer, bytearray())
        )
    finally:
        far_writer.close()


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: bytearray
) -> None:
    while data := await reader.read(65_536):
        seen += data
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
    else:
        writer.close()
