"""What the model endpoint adds before a streamed answer's first byte, and to its whole.

``python -m benchmarks.model_endpoint [--rounds N]``. A provider on loopback answers at once; it, the
endpoint and the client are processes of their own. Calls take turns between the provider itself and the endpoint in front of it, with a real audit that is on
disk before each call leaves; the figures are medians of differences and of ratios of pairs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import tempfile
import time
from collections.abc import Callable
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess as Process
from pathlib import Path

import anyio
import httpx2

from orchestrator.audit.log import AuditLog
from orchestrator.audit.signer import Signer
from orchestrator.harness.box_models.records import ModelCallDesk
from orchestrator.schema.ids import SessionId
from tests.support.endpoints import PLACEHOLDER, endpoint, provider

ROUNDS = 200
WARM = 20
BODY = {
    "model": "m",
    "max_tokens": 100,
    "stream": True,
    "system": "word " * 17_000,
    "messages": [{"role": "user", "content": "hi"}],
}
"""As long as an agent's first request."""
DELTA = {
    "type": "content_block_delta",
    "index": 0,
    "delta": {"type": "text_delta", "text": "Hello"},
}
EVENT = f"event: content_block_delta\ndata: {json.dumps(DELTA)}\n\n".encode()
EVENTS = 200


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Stream an answer to each request of a connection."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                b"transfer-encoding: chunked\r\n\r\n"
            )
            for _ in range(EVENTS):
                writer.write(b"%x\r\n%s\r\n" % (len(EVENT), EVENT))
                await writer.drain()
            writer.write(b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, OSError):
        writer.close()


async def call(http: httpx2.AsyncClient, address: str, body: bytes) -> tuple[float, float]:
    """Return the seconds until the first byte and until the last."""
    begun = time.perf_counter()
    first = 0.0
    url, headers = f"{address}/v1/messages", {"x-api-key": PLACEHOLDER}
    async with http.stream("POST", url, content=body, headers=headers) as response:
        async for _ in response.aiter_raw():
            first = first or time.perf_counter() - begun
    return first, time.perf_counter() - begun


def provide(told: Connection) -> None:
    """Run the provider until the process is ended."""

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        told.send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await server.serve_forever()

    asyncio.run(serve())


def stand_before(address: str, folder: Path, told: Connection) -> None:
    """Run the endpoint in front of a provider until the process is ended."""
    audit = AuditLog.create(
        folder / "audit" / "x.jsonl",
        session=SessionId("bench"),
        genesis={},
        signer=Signer.load(folder / "keys"),
    )
    desk = ModelCallDesk(audit, scrub=dict, observe=lambda _: None)

    async def serve() -> None:
        async with endpoint(provider("p", address, "anthropic"), desk=desk) as served:
            told.send(served.address)
            await anyio.sleep_forever()

    anyio.run(serve)


def started(processes: list[Process], target: Callable[..., None], *given: object) -> str:
    """Start a process and return the address that it tells."""
    here, there = Pipe()
    process = get_context("spawn").Process(target=target, args=(*given, there), daemon=True)
    process.start()
    processes.append(process)
    return str(here.recv())


async def measure(rounds: int, direct: str, through: str) -> None:
    """Print the figures."""
    body = json.dumps(BODY).encode()
    unkept = httpx2.Limits(max_keepalive_connections=0)
    async with httpx2.AsyncClient(trust_env=False, limits=unkept) as http:
        pairs = [
            (await call(http, direct, body), await call(http, through, body))
            for _ in range(rounds + WARM)
        ][WARM:]
    first = [(behind[0] - before[0]) * 1000 for before, behind in pairs]
    whole = [behind[1] / before[1] for before, behind in pairs]
    print(f"first byte of a streamed call: +{statistics.median(first):.2f} ms at p50")
    print(f"the whole of {EVENTS} events at once: x{statistics.median(whole):.2f} at p50")


def main() -> None:
    """Read the flags and measure."""
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = flags.parse_args().rounds
    processes: list[Process] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            direct = started(processes, provide)
            through = started(processes, stand_before, direct, Path(folder))
            anyio.run(measure, rounds, direct, through)
        finally:
            for process in processes:
                process.terminate()
                process.join()


if __name__ == "__main__":
    main()
