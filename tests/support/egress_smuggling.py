"""One connection of the box with bytes that may mean two things, and what came out of it.

What reaches the server is read by a reader that is not ours; it must be what was judged, one
request for one yes.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field

import anyio

from orchestrator.egress.limits import Limits
from orchestrator.egress.memory import MemoryStream, stream_pair
from orchestrator.egress.proxy import Proxy
from orchestrator.egress.scripted import Let, ScriptedGatekeeper, ScriptedResolver
from orchestrator.egress.seams import Tls
from orchestrator.schema.egress import Terms
from orchestrator.schema.way_out import Incoming
from tests.support.egress_scene import ADDRESS, HOST
from tests.support.http_reader import Reader, read

HASTY = Limits(head_s=5, idle_s=5, keep_s=5, tls_s=5, gone_s=2, continue_s=0.01, linger_s=0.01)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"})
"""The other reader knows a list of methods, and no others."""
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
RULES = (Let(HOST, "http"), Let(HOST, terms=Terms(inspect=True)), Let(HOST, "tcp", 22))


@dataclass
class Servers:
    """A Dialer whose servers answer each whole request, or say what they were told to say."""

    says: bytes = b""
    seen: list[Reader] = field(default_factory=list)
    raw: list[bytearray] = field(default_factory=list)
    tasks: anyio.abc.TaskGroup | None = None

    async def dial(self, address: str, port: int) -> MemoryStream:
        assert (address, port > 0) == (ADDRESS, True)
        near, far = stream_pair()
        reader, raw = Reader(), bytearray()
        self.seen.append(reader)
        self.raw.append(raw)
        assert self.tasks is not None
        self.tasks.start_soon(self._serve, far, reader, raw)
        return near

    async def _serve(self, far: MemoryStream, reader: Reader, raw: bytearray) -> None:
        answered = 0
        with contextlib.suppress(OSError):
            while data := await far.receive():
                raw += data
                reader.feed(data)
                whole = sum(message.whole for message in reader.messages)
                if self.says and whole:
                    await far.send(self.says, last=True)
                    break
                await far.send(OK * (whole - answered))
                answered = whole
        await far.close()


@dataclass
class Outcome:
    """What was judged, what the servers read, and what the box got."""

    judged: list[tuple[str, str]]
    read: list[tuple[str, str, bytes]]
    errors: list[str]
    got: bytes
    connections: int


async def send(
    data: bytes, *, says: bytes = b"", incoming: Incoming | None = None, tls: Tls | None = None
) -> Outcome:
    """Send bytes as one connection of the box, and nothing after them."""
    gate = ScriptedGatekeeper(RULES)
    servers = Servers(says)
    proxy = Proxy(gate, ScriptedResolver({HOST: [ADDRESS]}), servers, tls=tls, limits=HASTY)
    near, box = stream_pair(capacity=10**7)
    got = bytearray()

    async def listen() -> None:
        with contextlib.suppress(OSError):
            while piece := await box.receive():
                got.extend(piece)

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            servers.tasks = tasks
            with contextlib.suppress(OSError):
                await box.send(data, last=True)
            async with anyio.create_task_group() as program:
                program.start_soon(listen)
                await proxy.serve(near, incoming or Incoming("proxy"))
            tasks.cancel_scope.cancel()
    asked = [item.request for item in gate.admitted if item.allowed and item.request.method]
    messages = [message for reader in servers.seen for message in reader.messages]
    return Outcome(
        judged=[(request.method or "", request.target) for request in asked],
        read=[(message.method, message.target, message.body) for message in messages],
        errors=[reader.error for reader in servers.seen if reader.error],
        got=bytes(got),
        connections=proxy.connections,
    )


def disagreement(data: bytes, outcome: Outcome) -> str:
    """Return where the proxy, its server and the second opinion disagree; empty where they do not."""
    if outcome.connections:
        return "a connection is left"
    if any(method not in METHODS for method, _ in outcome.judged):
        return ""
    if outcome.errors:
        return f"the server could not read what it was sent: {outcome.errors}"
    judged = sorted(outcome.judged)
    if any((method, target) not in judged for method, target, _ in outcome.read):
        return f"the server read {outcome.read}, judged was {judged}"
    if len(outcome.read) > len(judged):
        return f"{len(outcome.read)} requests for {len(judged)} yes"
    opinion = read(data)
    understood = [
        (message.method, _origin(message.target)) for message in opinion.messages if message.method
    ]
    if outcome.judged != understood[: len(outcome.judged)]:
        return f"judged was {outcome.judged}, the second opinion is {understood}"
    bodies = [message.body for message in opinion.messages]
    for at, (_, _, body) in enumerate(outcome.read):
        if not bodies[at].startswith(body):
            return f"body {at} is {body!r}, the second opinion is {bodies[at]!r}"
    return ""


def _origin(target: str) -> str:
    if "://" not in target:
        return target
    rest = target.partition("://")[2]
    at = min((rest.find(mark) for mark in "/?" if mark in rest), default=len(rest))
    return rest[at:] if rest[at:].startswith("/") else f"/{rest[at:]}"
