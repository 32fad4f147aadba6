import socket
import threading

import anyio
import pytest

from orchestrator.egress.scripted import (
    Let,
    ScriptedDialer,
    ScriptedGatekeeper,
    ScriptedResolver,
)
from orchestrator.egress.seams import ResolveError
from orchestrator.schema.egress import EgressRequest, Terms, Traffic

GET = EgressRequest("http", "http", "a.example", 80, "GET", "/v1/x?y")


@pytest.mark.parametrize(
    ("rule", "matches"),
    [
        (Let("a.example", "http"), True),
        (Let("a.example", "http", 81), False),
        (Let("a.example"), False),
        (Let("b.example", "http"), False),
        (Let("a.example", "http", methods=("POST",)), False),
        (Let("a.example", "http", prefix="/v1/"), True),
        (Let("a.example", "http", prefix="/v2/"), False),
    ],
)
def test_a_rule_lets_what_it_names(rule, matches):
    assert rule.matches(GET) is matches


def test_an_upgrade_needs_its_own_yes():
    request = EgressRequest("http", "http", "a.example", 80, "GET", "/", "websocket")

    assert not Let("a.example", "http").matches(request)
    assert Let("a.example", "http", upgrade=True).matches(request)


def test_a_name_may_be_looked_up_where_something_on_it_is_allowed():
    assert Let("a.example").matches(EgressRequest("dns", "https", "a.example", 0))


def test_a_gatekeeper_keeps_what_it_answered():
    """Terms come with the rule, nothing named is a no, and new rules count from then on."""

    async def run():
        terms = Terms(max_upload=5)
        gate = ScriptedGatekeeper([Let("a.example", "http", terms=terms)])
        yes = await gate.admit(GET, None)
        gate.passed(yes, Traffic(1, 2))
        allowed = gate.still_allows(yes)
        gate.judge = ScriptedGatekeeper().judge
        no = await gate.admit(GET, None)
        return terms, gate, yes, no, allowed

    terms, gate, yes, no, allowed = anyio.run(run)

    assert yes.allowed
    assert allowed
    assert yes.verdict.terms == terms
    assert not no.allowed
    assert not gate.still_allows(yes)
    assert gate.admitted == [yes, no]
    assert gate.ended == [(yes, Traffic(1, 2))]


def test_a_resolver_answers_in_turns():
    """A name that flips does so at each look-up, and then has its lasting answer."""

    async def run():
        resolver = ScriptedResolver({"a": ["1.1.1.1"]}, turns={"a": [["2.2.2.2"], []]})
        first = await resolver.resolve("a")
        with pytest.raises(ResolveError):
            await resolver.resolve("a")
        last = await resolver.resolve("a")
        with pytest.raises(ResolveError):
            await resolver.resolve("b")
        return first, last, resolver.asked

    assert anyio.run(run) == (["2.2.2.2"], ["1.1.1.1"], ["a", "a", "a", "b"])


def test_a_dialer_leads_to_memory_to_a_real_port_or_nowhere():
    async def run():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]

            def serve() -> None:
                near, _ = listener.accept()
                with near:
                    near.sendall(b"real")

            threading.Thread(target=serve, daemon=True).start()
            dialer = ScriptedDialer({("1.1.1.1", 1): None, ("1.1.1.1", 2): port})
            near = await dialer.dial("1.1.1.1", 1)
            far = await dialer.accept()
            await far.send(b"memory")
            real = await dialer.dial("1.1.1.1", 2)
            with pytest.raises(ConnectionRefusedError):
                await dialer.dial("1.1.1.1", 3)
            got = [await near.receive(), await real.receive()]
            await real.close()
            return got, dialer.dialled

    got, dialled = anyio.run(run)

    assert got == [b"memory", b"real"]
    assert dialled == [("1.1.1.1", 1), ("1.1.1.1", 2), ("1.1.1.1", 3)]


@pytest.mark.parametrize(
    ("rules", "scheme"),
    [
        ([Let("a.example", "tcp", 22)], "tcp"),
        ([Let("a.example", "http", 22)], "http"),
        ([Let("a.example", "tcp", 22), Let("a.example", "https", 22)], "https"),
        ([], "https"),
    ],
)
def test_a_tunnel_is_read_as_the_rules_that_name_its_end_say(rules, scheme):
    gate = ScriptedGatekeeper(rules)

    assert gate.tunnel_scheme("a.example", 22) == scheme
    assert gate.admitted == []
