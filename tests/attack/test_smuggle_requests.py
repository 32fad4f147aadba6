"""Bytes that two readers take for different requests, sent from a box to a server behind the proxy."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest
import yaml

from tests.support.http_reader import Reader
from tests.support.outing import allow
from tests.support.trapped import sent, trapped

pytestmark = pytest.mark.docker
CASES = yaml.safe_load((Path(__file__).parents[1] / "cases/smuggling.yaml").read_text())


@dataclass
class Strict:
    """A server that reads by another parser than the proxy, and keeps each request it found."""

    found: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    async def answer(self, head, reader, writer):
        parser, data = Reader(), head
        told = 0
        while data and not parser.error:
            parser.feed(data)
            whole = sum(message.whole for message in parser.messages)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" * (whole - told))
            told = whole
            await writer.drain()
            data = await asyncio.wait_for(reader.read(65536), 30)
        self.found += [message.target for message in parser.messages]
        self.errors += [parser.error] if parser.error else []


def word(case):
    """Return the case's bytes, with paths that tell which case they are of."""
    host = "Host: a.example\r\n"
    filled = case["sends"].replace("{P}", "POST http://a.example/first HTTP/1.1\r\n" + host)
    filled = filled.replace("{H}", host)
    for path in ("/first", "/second"):
        filled = filled.replace(f"a.example{path}", f"a.example/{case['id']}{path}")
    return {"name": case["id"], "send": filled}


def test_no_request_is_smuggled_past_the_one_that_was_judged(outing):
    """Each case of the corpus: the server reads as many requests as there were yes, and no other."""
    server = Strict()

    async def run():
        async with trapped("a.example", answer=server.answer) as outside:
            rule = allow("a.example", schemes=["http"], methods=["GET", "POST"])
            policy = outing.policy(default="deny", rules=[rule])
            return await sent(outing, policy, [word(case) for case in CASES], outside), outside

    answers, outside = anyio.run(run)

    arrived = {
        case["id"]: sum(found.startswith(f"/{case['id']}/") for found in server.found)
        for case in CASES
    }
    assert arrived == {case["id"]: case["passes"] for case in CASES}
    assert len(server.found) == sum(arrived.values())
    assert server.errors == []
    assert outside.caught == []
    assert answers["plain"] == ["200"]
    assert answers["both-lengths"] == ["400"]
    records = [body for body in outing.records("egress") if body["effect"] == "allow"]
    assert len(records) >= len(server.found)
