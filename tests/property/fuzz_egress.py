"""Random and mutated bytes through the whole proxy: from the box, from servers, in tunnels.

``python -m tests.property.fuzz_egress [COUNT] [SEED]`` runs it at full length (``make fuzz``).
"""

from __future__ import annotations

import gc
import random
import resource
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import yaml

from orchestrator.egress.session_tls import SessionTls
from orchestrator.egress.tls.authority import Authority
from orchestrator.egress.tls.upstream import upstream_context
from orchestrator.schema.way_out import Incoming
from tests.support.egress_scene import HOST
from tests.support.egress_smuggling import METHODS, Outcome, disagreement, send
from tests.support.http_reader import read

FULL = 200_000
AT_ONCE = 24
CASES = Path(__file__).parents[1] / "cases" / "smuggling.yaml"
LINE = f"Host: {HOST}\r\n"
GET = f"GET http://{HOST}/first HTTP/1.1\r\n{LINE}\r\n".encode()
TRANSPARENT = (Incoming("transparent", HOST, 80), Incoming("transparent", HOST, 443))
CONNECT = f"CONNECT {HOST}:443 HTTP/1.1\r\n{LINE}\r\n".encode()
HELLO = bytes.fromhex(
    "16030100540100005003030000000000000000000000000000000000000000000000000000000000000000"
    "000002130101000025000000"
    "0e000c000009612e6578616d706c65"
    "002b0003020304000a00040002001d000d00040002"
)
MARKS = (
    *(b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\n\n", b"\0", b"\t", b" ", b"\x0b", b"\x7f", b"\xff"),
    *(b":", b",", b";", b"=", b"\\", b"/", b"//", b"?", b"#", b"@", b"%", b"%2e", b"..", b"*"),
    *(b"0", b"1", b"4", b"5", b"a", b"0\r\n\r\n", b"5\r\nhello\r\n", b"HTTP/1.1", b"HTTP/1.0"),
    *(b"Content-Length: 4\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n"),
    *(b"Connection: upgrade\r\nUpgrade: websocket\r\n", b"Expect: 100-continue\r\n", GET, CONNECT),
    *(LINE.encode(), b"Host: b.example\r\n", b"POST ", b"HEAD ", b"CONNECT ", b" x", b"X: y\r\n"),
)
ANSWERS = (
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nhello",
    b"HTTP/1.1 204 No Content\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
)


@dataclass(frozen=True)
class Try:
    """One connection, and what the server says."""

    kind: str
    sends: bytes
    says: bytes = b""
    incoming: Incoming | None = None


@dataclass
class Tally:
    """What was seen."""

    answers: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)


def tries(chance: random.Random, count: int) -> Iterator[Try]:
    """Yield what comes from the box, and what comes from servers."""
    cases = [
        case["sends"]
        .replace("{P}", f"POST http://{HOST}/first HTTP/1.1\r\n{LINE}")
        .replace("{H}", LINE)
        .encode("latin-1")
        for case in yaml.safe_load(CASES.read_text())
    ]
    makers = (_bytes, _marked, _mutated, _mutated, _mutated, _answered, _answered, _tunnelled)
    for _ in range(count):
        yield chance.choice(makers)(chance, cases)


def _bytes(chance: random.Random, _cases: list[bytes]) -> Try:
    return Try("bytes", chance.randbytes(chance.choice([1, 10, 100, 2000])))


def _marked(chance: random.Random, _cases: list[bytes]) -> Try:
    return Try("marks", b"".join(chance.choices(MARKS, k=chance.randint(1, 25))))


def _mutated(chance: random.Random, cases: list[bytes]) -> Try:
    data = _mutate(chance, chance.choice(cases))
    if chance.random() < 0.2:
        data += _mutate(chance, chance.choice(cases))
    if chance.random() < 0.1:
        data = data.replace(f"http://{HOST}".encode(), b"")
        return Try("transparent", data, incoming=chance.choice(TRANSPARENT))
    return Try("mutated", data)


def _answered(chance: random.Random, _cases: list[bytes]) -> Try:
    method = chance.choice([b"GET", b"HEAD", b"OPTIONS"])
    return Try("answer", GET.replace(b"GET", method), says=_mutate(chance, chance.choice(ANSWERS)))


def _tunnelled(chance: random.Random, _cases: list[bytes]) -> Try:
    hello = _mutate(chance, HELLO, marks=(b"\0", b"\x16\x03\x01", b"\xff", b"\0\x05"))
    if chance.random() < 0.3:
        return Try("hello", hello, incoming=TRANSPARENT[1])
    return Try("tunnel", CONNECT + hello)


def _mutate(chance: random.Random, data: bytes, marks: tuple[bytes, ...] = MARKS) -> bytes:
    for _ in range(chance.randint(1, 4)):
        at, to = sorted(chance.choices(range(len(data) + 1), k=2))
        cut = data[at : min(to, at + 20)]
        data = chance.choice(
            [
                data[:at] + chance.choice(marks) + data[at:],
                data[:at] + data[at + len(cut) :],
                data[:at] + cut + data[at:],
                data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :],
            ]
        )
    return data


def broken_promise(tried: Try, outcome: Outcome) -> str:
    """Return which promise an outcome breaks; empty where it keeps them all."""
    if tried.kind in {"bytes", "marks", "mutated"}:
        return disagreement(tried.sends, outcome)
    if outcome.connections:
        return f"{outcome.connections} connections are left"
    if any(method not in METHODS for method, _ in outcome.judged):
        return ""
    if outcome.errors:
        return f"the server could not read what it was sent: {outcome.errors}"
    if len(outcome.read) > len(outcome.judged):
        return f"{outcome.read} for {outcome.judged}"
    if tried.kind == "answer" and not tried.sends.startswith(b"HEAD"):
        got = read(outcome.got, responses=True)
        whole = [message for message in got.messages if message.status]
        if got.error or len(whole) > 1:
            return f"the box was given {outcome.got!r}: {got.error}"
    return ""


async def run(count: int, seed: str) -> Tally:
    """Make so many connections, some at one time."""
    tally = Tally()
    tls = SessionTls(Authority("box"), upstream_context())
    source = tries(random.Random(seed), count)

    async def work() -> None:
        for tried in source:
            await _try(tried, tls, tally)

    async with anyio.create_task_group() as tasks:
        for _ in range(AT_ONCE):
            tasks.start_soon(work)
    return tally


async def _try(tried: Try, tls: SessionTls, tally: Tally) -> None:
    try:
        outcome = await send(tried.sends, says=tried.says, incoming=tried.incoming, tls=tls)
        promise = broken_promise(tried, outcome)
    except Exception as error:  # noqa: BLE001 - whatever escapes is what is looked for
        tally.broken.append(f"{tried!r}: raised {error!r}")
        return
    tally.answers[f"{tried.kind} {outcome.got[9:12].decode('latin-1') or 'cut'}"] += 1
    if promise:
        tally.broken.append(f"{tried!r}: {promise}")


def memory() -> tuple[int, int]:
    """Return bytes that Python holds, and the most that the process ever held."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0], resource.getrusage(
        resource.RUSAGE_SELF
    ).ru_maxrss * 1024


def main() -> int:
    """Run at full length, and say how memory grew after the first tenth."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else FULL
    seed = sys.argv[2] if len(sys.argv) > 2 else "egress"
    tracemalloc.start()
    tallies = [anyio.run(run, count // 10, f"{seed} 0")]
    before = memory()
    for part in range(1, 10):
        tallies.append(anyio.run(run, count // 10, f"{seed} {part}"))
        print(f"{part + 1}0 %, {memory()[0] - before[0]:+} bytes held", file=sys.stderr, flush=True)
    after = memory()
    answers = sum((tally.answers for tally in tallies), Counter[str]())
    for name, times in sorted(answers.items()):
        print(f"{times:8} {name}")
    broken = [text for tally in tallies for text in tally.broken]
    for text in broken[:20]:
        print(f"BROKEN {text}")
    held, most = after[0] - before[0], after[1] - before[1]
    print(f"{count} connections, {len(broken)} broken promises")
    print(f"memory held grew by {held} bytes, the most ever by {most} bytes, after the first tenth")
    return 1 if broken or held > count * 5 + 500_000 else 0


if __name__ == "__main__":
    sys.exit(main())
