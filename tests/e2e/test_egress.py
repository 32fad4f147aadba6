"""What leaves a real box: by rule, by a person's yes, and nothing else."""

import asyncio

import anyio
import pytest

from orchestrator.schema.event import Egress, PolicyChange
from tests.support.asking import Someone, no, yes
from tests.support.outing import Told, allow
from tests.support.upstream import upstream

pytestmark = pytest.mark.docker


def test_curl_gets_what_a_rule_allows_and_a_reason_for_all_else(outing):
    async def run():
        async with upstream("docs.acme.example", "evil.example") as far:
            policy = outing.policy(
                default="deny", rules=[allow("docs.acme.example", schemes=["http"])]
            )
            outputs = await outing.run(
                policy,
                "curl -sS http://docs.acme.example/page?id=1",
                "curl -sS -w '%{http_code}' http://evil.example/",
                net=far.net,
            )
            return far, outputs

    far, (allowed, refused) = anyio.run(run)

    assert "hello" in allowed
    assert "403" in refused
    assert "policy" in refused
    assert far.asked == ["GET /page?id=1 HTTP/1.1"]
    first, second = outing.records("egress")
    assert (first["effect"], first["path"], first["host"]) == (
        "allow",
        "/page",
        "docs.acme.example",
    )
    assert (second["effect"], second["host"]) == ("deny", "evil.example")
    (end,) = outing.records("egress_end")
    assert (end["status"], end["bytes_down"] > 0) == (200, True)
    assert [event.effect for event in outing.told.of(Egress)] == ["allow", "deny"]


def test_ask_holds_a_request_until_a_person_answers(outing):
    """The question shows the whole URL and the program; the answer is remembered for the session."""
    outing.told = Told(Someone(yes("session"), no("not this one")))

    async def run():
        async with upstream("api.acme.example") as far:
            rule = {**allow("api.acme.example", schemes=["http"]), "effect": "ask"}
            outputs = await outing.run(
                outing.policy(default="deny", rules=[rule]),
                "curl -sS http://api.acme.example/a?id=1; curl -sS http://api.acme.example/a?id=1",
                "curl -sS http://api.acme.example/b",
                net=far.net,
            )
            return far, outputs

    far, (first, second) = anyio.run(run)

    assert first.count("hello") == 2
    assert "not this one" in second
    assert far.asked == ["GET /a?id=1 HTTP/1.1"] * 2
    question, other = outing.told.somebody.asked
    assert question.subject == "GET http://api.acme.example/a?id=1"
    assert other.subject == "GET http://api.acme.example/b"
    assert any(
        "curl -sS http://api.acme.example/a?id=1" in note for note in question.decision.notes
    )
    answers = [body["answer"]["by"] for body in outing.records("egress")]
    assert answers == ["terminal", "memory", "terminal"]


def test_policy_that_lets_nothing_out_starts_nothing(outing):
    """No listener in the box, no variable, no name that is answered."""

    async def run():
        async with upstream("docs.acme.example") as far:
            return await outing.run(
                outing.policy(default="deny"),
                "env | grep -ci proxy; cat /proc/net/tcp | tail -n +2 | grep -c ' 0A '; "
                "getent hosts docs.acme.example || echo no such name",
                "curl -sS --max-time 5 http://docs.acme.example/ 2>&1; true",
                net=far.net,
            ), far.asked

    (looked, tried), asked = anyio.run(run)

    assert looked.split("\n")[:3] == ["0", "0", "no such name"]
    assert "hello" not in tried
    assert asked == []
    assert outing.records("egress") == []


def test_rules_that_change_close_what_they_no_longer_allow(outing):
    """A policy file is edited while a download runs: it ends, and the record says why."""

    async def trickle(head, reader, writer):  # noqa: ARG001 - the form of Answer
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nbegun\n")
        await writer.drain()
        rules.write_text(rules.read_text().replace("effect: allow", "effect: deny"))
        while True:
            writer.write(b".")
            await writer.drain()
            await asyncio.sleep(0.05)

    rules = outing.root / "policy.yaml"

    async def run():
        async with upstream("docs.acme.example", answer=trickle) as far:
            policy = outing.policy(
                default="deny", rules=[allow("docs.acme.example", schemes=["http"])]
            )
            return await outing.run(
                policy,
                "curl -sS --max-time 60 http://docs.acme.example/; echo ended $?",
                "curl -sS http://docs.acme.example/again",
                net=far.net,
            )

    during, after = anyio.run(run)

    assert "begun" in during
    assert "ended 0" not in during
    assert "Refused by policy" in after or "refused" in after.lower()
    (change,) = outing.records("policy_change")
    (end,) = outing.records("egress_end")
    assert change["generation"] == 2
    assert "do not let it pass" in end["problem"]
    assert [event.closed for event in outing.told.of(PolicyChange)] == [1]
