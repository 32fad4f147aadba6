"""A fast little server over TLS: small answers, and bodies of any length at any rate.

``python -m benchmarks.egress_parts.upstream CERTIFICATE KEY`` prints its port and serves until its
input ends. ``/small`` answers with 64 bytes; ``/bulk/BYTES/RATE`` with so many, at so many a second
(0 is as fast as they are taken); ``/stream/EVENTS`` with server-sent events, one a millisecond.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
import time

SMALL = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 64\r\n\r\n" + b"x" * 64
PIECE = 64 * 1024


async def serve_client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer requests without a body until the client is gone."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            words = head.split(b" ", 2)[1].decode().strip("/").split("/")
            if words[0] == "small":
                writer.write(SMALL)
            elif words[0] == "bulk":
                await send_bulk(writer, int(words[1]), int(words[2]))
            else:
                await send_events(writer, int(words[1]))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        return
    finally:
        writer.close()


async def send_bulk(writer: asyncio.StreamWriter, size: int, rate: int) -> None:
    """Send a body, not faster than the rate."""
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
    begun, sent, piece = time.perf_counter(), 0, b"b" * PIECE
    while sent < size:
        writer.write(piece[: size - sent])
        sent += PIECE
        await writer.drain()
        if rate and (ahead := sent / rate - (time.perf_counter() - begun)) > 0:
            await asyncio.sleep(ahead)


async def send_events(writer: asyncio.StreamWriter, count: int) -> None:
    """Send events as a model's stream does."""
    writer.write(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    for number in range(count):
        event = f'data: {{"number": {number}}}\n\n'.encode()
        writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        await writer.drain()
        await asyncio.sleep(0.001)
    writer.write(b"0\r\n\r\n")


async def main() -> None:
    """Serve until the input ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server = await asyncio.start_server(serve_client, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
