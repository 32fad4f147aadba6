"""A world outside where every wrong step is heard: who is not known leads to a listener that keeps it."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from orchestrator.egress.seams import ByteStream
from orchestrator.egress.sockets import AddressDialer
from orchestrator.harness.egress.net import Net
from tests.support.outing import Outing
from tests.support.upstream import PUBLIC, Answer, Upstream, hello, upstream

TRAP = "198.51.100.66"
"""Public by the proxy's list: a name that is looked up at all leads to where it is heard."""

SEND = r"""
import concurrent.futures, json, re, socket, ssl
def through(link, place):
    link.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode("latin-1"))
    head = b""
    while b"\r\n\r\n" not in head and (piece := link.recv(1)):
        head += piece
    return head
def one(word):
    data = b""
    try:
        link = socket.create_connection(("127.0.0.1", 3128), 20)
        link.settimeout(20)
        if "connect" in word:
            head = through(link, word["connect"])
            if b" 200 " not in head.split(b"\r\n")[0]:
                return head
            link = ssl._create_unverified_context().wrap_socket(link, server_hostname=word["sni"])
        link.sendall(word["send"].encode("latin-1"))
        if "connect" not in word:
            link.shutdown(socket.SHUT_WR)
        while piece := link.recv(65536):
            data += piece
    except OSError as error:
        data += type(error).__name__.encode()
    return data
words = json.load(open("words.json"))
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    for word, data in zip(words, pool.map(one, words)):
        codes = re.findall(rb"HTTP/1.1 (\d{3})", data) or [data[:30] or b"nothing"]
        print(word["name"], *(code.decode() for code in codes))
print("all", len(words))
"""
"""Sends each word of words.json by a connection of its own and prints how it was answered."""


@dataclass
class Outside:
    """What was asked for out there, and what fell into the trap."""

    net: Net
    far: Upstream
    caught: list[bytes] = field(default_factory=list)
    """The first bytes of each connection to where nobody may go."""


class Names:
    """A resolver that knows an address for everything."""

    def __init__(
        self,
        names: Mapping[str, Sequence[str]],
        turns: Mapping[str, Sequence[Sequence[str]]],
    ) -> None:
        self._names = names
        self._turns = {name: deque(answers) for name, answers in turns.items()}
        self.asked: list[str] = []

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        turns = self._turns.get(host)
        return turns.popleft() if turns else self._names.get(host, [TRAP])


class Roads:
    """A dialer that leads to the trap from every address that it does not know."""

    def __init__(self, places: Mapping[tuple[str, int], int], trap: int) -> None:
        self._places, self._trap = places, trap
        self.dialled: list[tuple[str, int]] = []

    async def dial(self, address: str, port: int) -> ByteStream:
        self.dialled.append((address, port))
        return await AddressDialer().dial(
            "127.0.0.1", self._places.get((address, port), self._trap)
        )


@asynccontextmanager
async def trapped(
    *hosts: str,
    answer: Answer = hello,
    tls: ssl.SSLContext | None = None,
    turns: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> AsyncIterator[Outside]:
    """Serve ``hosts`` at port 80, and at 443 by ``tls``; all else is the trap."""
    caught: list[bytes] = []

    async def heard(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        at = len(caught)
        caught.append(b"")
        try:
            caught[at] = await reader.read(4096)
            await hello(caught[at], reader, writer)
        except OSError:
            pass
        finally:
            writer.close()

    trap = await asyncio.start_server(heard, "127.0.0.1", 0)
    async with (
        trap,
        upstream(*hosts, answer=answer) as plain,
        upstream(*hosts, answer=answer, ports=(443,), tls=tls) as secure,
    ):
        plain.heads = secure.heads
        places = plain.ports | (secure.ports if tls else {})
        roads = Roads(
            {place: port for place, port in places.items() if port},
            trap.sockets[0].getsockname()[1],
        )
        names = Names({host: [PUBLIC] for host in hosts}, turns or {})
        yield Outside(Net(names, roads), plain, caught)


async def sent(
    outing: Outing,
    policy: str,
    words: Sequence[Mapping[str, str]],
    outside: Outside,
    **more: object,
) -> dict[str, list[str]]:
    """Send words from a real box; returns the status of every answer by the word's name."""
    (outing.project / "words.json").write_text(json.dumps(list(words)))
    (outing.project / "send.py").write_text(SEND)
    (output,) = await outing.run(policy, "python3 send.py", net=outside.net, **more)
    found = [line.split(" ") for line in output.splitlines()]
    assert ["all", str(len(words))] in found, output
    named = {word["name"] for word in words}
    answers = {name: codes for name, *codes in found if name in named}
    assert answers.keys() == named, output
    return answers
