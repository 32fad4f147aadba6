"""Tunnels: by CONNECT and by programs that know of no proxy, with TLS of a real client."""

import contextlib
import ssl

import anyio
import pytest

from orchestrator.egress.scripted import Let
from orchestrator.egress.session_tls import SessionTls
from orchestrator.egress.tls.authority import Authority
from orchestrator.egress.tls.stream import TlsStream
from orchestrator.egress.tls.upstream import upstream_context
from orchestrator.egress.tunnel import ESTABLISHED
from orchestrator.schema.egress import Terms
from orchestrator.schema.way_out import Incoming
from tests.support.egress_scene import HOST, head_of, rest_of, scene, some_of

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CONNECT = b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"
GET = b"GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n"
INSPECT = Let(HOST, terms=Terms(inspect=True))
SERVERS, BOX = Authority("servers"), Authority("box")
TRANSPARENT = Incoming("transparent", HOST, 443)


def play(act, *rules, **more):
    """Play with servers that one authority signs for, and a box that trusts another."""

    async def run():
        tls = SessionTls(BOX, upstream_context(SERVERS.certificate))
        async with scene(*rules, **{"tls": tls, **more}) as stage:
            return await act(stage)

    return anyio.run(run)


def client(stream, name=HOST, *, trusts=BOX):
    context = ssl.create_default_context(cadata=trusts.certificate)
    return TlsStream(stream, context, name)


async def connected(stage, request=CONNECT):
    box = stage.dial()
    await box.send(request)
    got = await some_of(box, len(ESTABLISHED))
    assert got == ESTABLISHED
    return box


async def server(stage, name=HOST):
    return await SERVERS.terminate(await stage.dialer.accept(), name)


async def started(tls):
    await tls.start()
    return tls


def test_a_tunnel_that_needs_no_look_passes_its_bytes_untouched():
    """The client talks TLS with the server itself."""

    async def act(stage):
        box = client(await connected(stage), trusts=SERVERS)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(box.start)
            far = await server(stage)
        await box.send(GET)
        seen = await head_of(far)
        await far.send(OK, last=True)
        got = await some_of(box, len(OK))
        await stage.over()
        return seen, got, stage.gate

    seen, got, gate = play(act)
    [(admission, traffic)] = gate.ended

    assert (seen, got) == (GET, OK)
    assert (admission.request.door, admission.request.scheme) == ("connect", "https")
    assert admission.request.method is None
    assert traffic.address == "203.0.113.1"
    assert traffic.bytes_up > len(GET)


def test_a_refused_tunnel_is_refused_and_not_opened_and_cut_later():
    async def act(stage):
        box = stage.dial()
        await box.send(b"CONNECT b.example:443 HTTP/1.1\r\nHost: b.example:443\r\n\r\n")
        return await rest_of(box), stage.resolver.asked

    got, asked = play(act)

    assert got.startswith(b"HTTP/1.1 403 Refused by policy")
    assert asked == []


@pytest.mark.parametrize(
    "begins", [b"SSH-2.0-OpenSSH_9.6\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\x80\x2e\x01\x00\x02", b""]
)
@pytest.mark.parametrize("rule", [Let(HOST), INSPECT])
def test_what_is_no_tls_goes_nowhere(begins, rule):
    async def act(stage):
        box = await connected(stage)
        await box.send(begins, last=True)
        got = await rest_of(box)
        return got, stage.dialer.dialled, await stage.problems()

    got, dialled, problems = play(act, rule)

    assert (got, dialled) == (b"", [])
    assert problems[0]


@pytest.mark.parametrize("rule", [Let(HOST), INSPECT])
def test_a_client_that_means_another_server_is_told_so(rule):
    """The ClientHello names another host than the CONNECT: a front for it."""

    async def act(stage):
        box = await started(client(await connected(stage), "b.example"))
        await box.send(b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n")
        got = await head_of(box)
        await stage.over()
        return got, stage.dialer.dialled, stage.gate.ended[0][1]

    got, dialled, traffic = play(act, rule)

    assert got.startswith(b"HTTP/1.1 403 Refused by policy")
    assert b"x-glovebox-rule: names" in got
    assert dialled == []
    assert "b.example" in traffic.problem
    assert traffic.refused == "names"


def test_a_client_that_names_no_server_goes_nowhere():
    async def act(stage):
        box = client(await connected(stage), "203.0.113.1")
        with pytest.raises(OSError, match="left"):
            await box.start()
        return stage.dialer.dialled

    assert play(act) == []


def test_requests_inside_an_inspected_tunnel_are_judged_one_by_one():
    rules = [
        Let(HOST, methods=("CONNECT",), terms=Terms(inspect=True)),
        Let(HOST, methods=("GET",), prefix="/v1/"),
    ]

    async def act(stage):
        box = await started(client(await connected(stage)))
        await box.send(b"GET /v1/x HTTP/1.1\r\nHost: a.example:443\r\n\r\n")
        far = await server(stage)
        seen = await head_of(far)
        await far.send(OK)
        first = await some_of(box, len(OK))
        await box.send(b"POST /v1/x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n")
        second = await head_of(box)
        await stage.over()
        return seen, first, second, [admission.request for admission in stage.gate.admitted]

    seen, first, second, asked = play(act, *rules)

    assert seen == b"GET /v1/x HTTP/1.1\r\nHost: a.example\r\n\r\n"
    assert first == OK
    assert second.startswith(b"HTTP/1.1 403")
    assert [(request.door, request.method) for request in asked] == [
        ("connect", None),
        ("inspected", "GET"),
        ("inspected", "POST"),
    ]


@pytest.mark.parametrize("host", [b"b.example", b"a.example:80"])
def test_a_host_header_inside_that_names_another_server_is_refused(host):
    async def act(stage):
        box = await started(client(await connected(stage)))
        await box.send(b"GET / HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
        return await head_of(box), stage.dialer.dialled

    got, dialled = play(act, INSPECT)

    assert b"x-glovebox-rule: malformed" in got
    assert dialled == []


def test_there_is_no_proxy_at_the_end_of_a_tunnel():
    async def act(stage):
        box = await started(client(await connected(stage)))
        await box.send(CONNECT)
        return await head_of(box)

    assert play(act, INSPECT).startswith(b"HTTP/1.1 405")


def test_a_server_that_cannot_prove_who_it_is_gets_no_request():
    async def act(stage):
        box = await started(client(await connected(stage)))
        await box.send(GET)
        far = await stage.dialer.accept()
        with contextlib.suppress(OSError):
            assert await rest_of(await BOX.terminate(far, HOST)) in {b"", b"<broken>"}
        return await head_of(box)

    got = play(act, INSPECT)

    assert got.startswith(b"HTTP/1.1 502")
    assert b"certificate" in got


def test_a_client_that_does_not_trust_the_session_is_told_apart():
    async def act(stage):
        box = client(await connected(stage), trusts=SERVERS)
        with pytest.raises(OSError, match="TLS"):
            await box.start()
        return await stage.problems()

    [problem] = play(act, INSPECT)

    assert "TLS failed" in problem


def test_without_tls_of_its_own_a_session_inspects_nothing_and_lets_nothing_pass():
    async def act(stage):
        box = client(await connected(stage))
        with pytest.raises(OSError, match="left"):
            await box.start()
        return stage.dialer.dialled, await stage.problems()

    assert play(act, INSPECT, tls=None) == ([], ["TLS is not opened here"])


def test_bytes_of_an_opaque_tunnel_pass_both_ways_with_ends_of_their_own():
    async def act(stage):
        box = stage.dial()
        await box.send(b"CONNECT a.example:22 HTTP/1.1\r\nHost: a.example:22\r\n\r\n")
        far = await stage.dialer.accept()
        await far.send(b"SSH-2.0-x\r\n")
        got = await some_of(box, len(ESTABLISHED) + 11)
        await box.send(b"bye", last=True)
        seen = await rest_of(far)
        await far.send(b"late", last=True)
        return got, seen, await rest_of(box), stage.gate.admitted[0].request.scheme

    assert play(act) == (ESTABLISHED + b"SSH-2.0-x\r\n", b"bye", b"late", "tcp")


def test_an_opaque_tunnel_to_nobody_is_a_502_and_no_200():
    async def act(stage):
        box = stage.dial()
        await box.send(b"CONNECT a.example:23 HTTP/1.1\r\nHost: a.example:23\r\n\r\n")
        return await rest_of(box)

    got = play(act, Let(HOST, "tcp", 23))

    assert got.startswith(b"HTTP/1.1 502")
    assert b"x-glovebox-error: connect" in got


def test_plain_requests_inside_a_tunnel_are_judged_as_such():
    async def act(stage):
        request = b"CONNECT a.example:80 HTTP/1.1\r\nHost: a.example:80\r\n\r\n"
        box = await connected(stage, request)
        await box.send(GET)
        far = await stage.dialer.accept()
        seen = await head_of(far)
        await far.send(OK)
        return seen, await some_of(box, len(OK)), stage.gate.admitted[1].request

    seen, got, asked = play(act, Let(HOST, "http"))

    assert (seen, got) == (GET, OK)
    assert (asked.door, asked.scheme, asked.method) == ("inspected", "http", "GET")


@pytest.mark.parametrize("limit", ["max_upload", "max_download"])
def test_a_tunnel_passes_exactly_as_many_bytes_as_it_may(limit):
    async def act(stage):
        box = stage.dial()
        await box.send(b"CONNECT a.example:22 HTTP/1.1\r\nHost: a.example:22\r\n\r\n")
        far = await stage.dialer.accept()
        await some_of(box, len(ESTABLISHED))
        if limit == "max_upload":
            await box.send(b"x" * 15)
            passed = await rest_of(far)
        else:
            await far.send(b"x" * 15)
            passed = await rest_of(box)
        return passed, await stage.problems()

    passed, [problem] = play(act, Let(HOST, "tcp", 22, terms=Terms(**{limit: 10})))

    assert passed == b"x" * 10
    assert f"{limit} is 10 bytes" in problem


def test_a_tunnel_that_new_rules_forbid_is_cut():
    async def act(stage):
        box = stage.dial()
        await box.send(b"CONNECT a.example:22 HTTP/1.1\r\nHost: a.example:22\r\n\r\n")
        far = await stage.dialer.accept()
        await some_of(box, len(ESTABLISHED))
        stage.gate.judge = type(stage.gate)().judge
        return stage.proxy.recheck(), await rest_of(box), await rest_of(far)

    assert play(act) == (1, b"", b"")


def test_a_program_that_knows_of_no_proxy_is_let_through_by_the_name_it_looked_up():
    async def act(stage):
        box = client(stage.dial(TRANSPARENT), trusts=SERVERS)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(box.start)
            far = await server(stage)
        await box.send(GET)
        return await head_of(far), stage.gate.admitted[0].request.door

    assert play(act) == (GET, "transparent")


def test_such_a_program_is_inspected_where_a_rule_needs_it():
    async def act(stage):
        box = await started(client(stage.dial(TRANSPARENT)))
        await box.send(GET)
        far = await server(stage)
        seen = await head_of(far)
        await far.send(OK)
        return seen, await some_of(box, len(OK))

    assert play(act, INSPECT) == (GET, OK)


def test_such_a_program_reads_the_refusal_inside_its_tls():
    async def act(stage):
        box = await started(
            client(stage.dial(Incoming("transparent", "b.example", 443)), "b.example")
        )
        await box.send(b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n")
        return await head_of(box), stage.resolver.asked

    got, asked = play(act)

    assert got.startswith(b"HTTP/1.1 403 Refused by policy")
    assert b"connect to b.example" in got
    assert asked == []


def test_such_a_program_that_looked_up_another_name_than_it_means_is_refused():
    async def act(stage):
        box = await started(client(stage.dial(TRANSPARENT), "b.example"))
        await box.send(b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n")
        return await head_of(box), stage.dialer.dialled

    got, dialled = play(act)

    assert b"x-glovebox-rule: names" in got
    assert dialled == []


def test_such_a_program_that_speaks_no_tls_is_judged_and_cut():
    """The attempt is on record."""

    async def act(stage):
        box = stage.dial(TRANSPARENT)
        await box.send(b"SSH-2.0-x\r\n")
        return await rest_of(box), stage.dialer.dialled, len(stage.gate.admitted)

    assert play(act) == (b"", [], 1)


def test_such_a_program_may_speak_plain_http_where_a_rule_lets_it():
    async def act(stage):
        box = stage.dial(Incoming("transparent", HOST, 80))
        await box.send(GET)
        far = await stage.dialer.accept()
        seen = await head_of(far)
        await far.send(OK)
        request = stage.gate.admitted[0].request
        return seen, await some_of(box, len(OK)), (request.door, request.scheme, request.method)

    assert play(act) == (GET, OK, ("transparent", "http", "GET"))


def test_such_a_program_may_use_any_protocol_where_a_rule_lets_it():
    async def act(stage):
        box = stage.dial(Incoming("transparent", HOST, 22))
        far = await stage.dialer.accept()
        await far.send(b"SSH-2.0-x\r\n", last=True)
        return await some_of(box, 11)

    assert play(act) == b"SSH-2.0-x\r\n"
