"""What is judged before anything leaves, and what a refusal ends."""

import anyio
import pytest
from anyio import lowlevel

from orchestrator.egress.conversation import ended
from orchestrator.egress.ledger import Ledger, Meter
from orchestrator.egress.live import BY_RULES, Carried
from orchestrator.egress.scripted import Let
from orchestrator.schema.egress import Caller, Terms
from orchestrator.schema.way_out import Incoming
from tests.support.egress_scene import HOST, head_of, rest_of, scene, some_of

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
GET = b"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n"
KEY = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
SWITCH = b"GET http://a.example/ws HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\n"
ACCEPTED = (
    b"HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
    b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
)


def play(act, *rules, **more):
    async def run():
        async with scene(*rules, **more) as stage:
            return await act(stage)

    return anyio.run(run)


def refused(request, *rules):
    """The answer to what must reach nobody, and who was asked about it."""

    async def act(stage):
        box = stage.dial()
        await box.send(request)
        got = await rest_of(box)
        await stage.over()
        assert stage.dialer.dialled == []
        assert stage.resolver.asked == []
        return got, [admission.request for admission in stage.gate.admitted]

    return play(act, *rules)


def test_what_no_rule_names_is_refused_before_its_name_is_looked_up():
    got, [asked] = refused(b"GET http://b.example/?k HTTP/1.1\r\nHost: b.example\r\n\r\n")

    assert got.startswith(b"HTTP/1.1 403 Refused by policy\r\n")
    assert (asked.host, asked.target, asked.door) == ("b.example", "/?k", "http")


def test_all_that_policy_asks_about_is_told_to_it():
    async def act(stage):
        box = stage.dial(Incoming("proxy", caller=Caller(7, "/usr/bin/curl")))
        await box.send(
            b"POST http://a.example/v1 HTTP/1.1\r\nHost: a.example\r\n"
            b"X-HTTP-Method-Override: DELETE\r\nX-Original-URL: /admin\r\nContent-Length: 3\r\n\r\nabc"
        )
        far = await stage.dialer.accept()
        await head_of(far)
        return stage.gate.admitted[0].request, stage.gate.callers

    request, callers = play(act)

    assert (request.method, request.overrides, request.announced) == ("POST", ("DELETE",), 3)
    assert request.other_paths == ("/admin",)
    assert callers == [Caller(7, "/usr/bin/curl")]


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n",
        b"GET http://a.example/x HTTP/1.1\r\nHost: b.example\r\n\r\n",
        b"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n",
        b"GET http://a.example/x HTTP/1.1\nHost: a.example\n\n",
        b"GET http://a.example/x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\nExpect: magic\r\n\r\n",
        (
            b"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\nConnection: upgrade, "
            b"HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"
        ),
        (
            b"POST http://a.example/x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ),
        (
            b"POST http://a.example/x HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n"
            b"\r\nzz\r\n"
        ),
        b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\nabc",
        b"\x16\x03\x01\x00\x05hello",
        SWITCH + b"Upgrade: websocket\r\n\r\n",
    ],
)
def test_what_has_no_one_meaning_is_judged_by_nobody_and_goes_nowhere(request_):
    got, asked = refused(request_)

    assert got.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5"))
    assert b"x-glovebox-rule: malformed" in got
    assert asked == []


@pytest.mark.parametrize(
    "target",
    [b"GET http://a.example@b.example/x", b"CONNECT a.example@b.example:443", b"GET http://127.1/"],
)
def test_a_host_in_two_meanings_is_refused_and_put_on_record(target):
    got, asked = refused(target + b" HTTP/1.1\r\nHost: a.example\r\n\r\n")

    assert got.startswith(b"HTTP/1.1 403 Refused by policy")
    assert len(asked) == 1


def test_nothing_after_a_refusal_is_carried_out():
    """A refused request may have hidden the next one in what it sends."""

    async def act(stage):
        box = stage.dial()
        await box.send(b"GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n" + GET)
        got = await rest_of(box)
        await stage.over()
        return got, len(stage.gate.admitted), stage.dialer.dialled

    got, judged, dialled = play(act)

    assert got.count(b"HTTP/1.1 ") == 1
    assert judged == 1
    assert dialled == []


def test_requests_sent_at_once_are_judged_one_after_the_other():
    async def act(stage):
        box = stage.dial()
        await box.send(GET + GET + b"GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n")
        far = await stage.dialer.accept()
        judged = []
        for _ in range(2):
            await head_of(far)
            judged.append(len(stage.gate.admitted))
            await far.send(OK)
        return judged, await rest_of(box)

    judged, got = play(act)

    assert judged == [1, 2]
    assert got.startswith(OK + OK + b"HTTP/1.1 403")


def test_a_body_that_was_held_back_is_no_request():
    """What follows a body of the length that was said is the next request, and is judged."""

    async def act(stage):
        box = stage.dial()
        await box.send(
            b"POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\n\r\nGET "
            b"http://b.example/ HTTP/1.1\r\n\r\n"
        )
        far = await stage.dialer.accept()
        seen = await head_of(far)
        await far.send(OK)
        got = await rest_of(box)
        await stage.over()
        return seen + await rest_of(far), got

    seen, got = play(act)

    assert seen.endswith(b"\r\n\r\nGET ")
    assert got.startswith(OK + b"HTTP/1.1 400")


def test_trailers_of_a_request_are_not_carried():
    async def act(stage):
        box = stage.dial()
        head = (
            b"POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n"
        )
        await box.send(head + b"\r\n1\r\nx\r\n0\r\nX-Late: 1\r\n\r\n")
        return await rest_of(box), stage.gate.admitted

    got, _ = play(act)

    assert b"trailers" in got


def test_a_person_who_thinks_holds_up_nobody_else():
    async def act(stage):
        stage.gate.hold = anyio.Event()
        slow = stage.dial()
        await slow.send(GET)
        await anyio.wait_all_tasks_blocked()
        hold, stage.gate.hold = stage.gate.hold, None
        quick = await stage.ask(GET, OK)
        hold.set()
        far = await stage.dialer.accept()
        await head_of(far)
        await far.send(OK)
        return quick, await head_of(slow)

    quick, slow = play(act)

    assert quick.startswith(OK)
    assert slow == OK


def test_a_switch_to_websocket_needs_its_own_yes():
    got, [asked] = refused(SWITCH + b"Upgrade: websocket\r\n" + KEY + b"\r\n")

    assert got.startswith(b"HTTP/1.1 403")
    assert asked.upgrade == "websocket"


def test_no_other_protocol_is_switched_to_whatever_policy_says():
    got, [asked] = refused(SWITCH + b"Upgrade: tcp\r\n\r\n", Let(HOST, "http", upgrade=True))

    assert b"x-glovebox-rule: upgrade" in got
    assert asked.upgrade == "tcp"


def websocket(answer):
    async def act(stage):
        box = stage.dial()
        await box.send(SWITCH + b"Upgrade: websocket\r\n" + KEY + b"\r\n")
        far = await stage.dialer.accept()
        seen = await head_of(far)
        await far.send(answer)
        got = await head_of(box)
        if got.startswith(b"HTTP/1.1 101"):
            await box.send(b"up" * 20)
            seen += await some_of(far, 40)
            await far.send(b"down", last=True)
            got += await some_of(box, 4)
        return seen, got, await stage.problems(), stage.gate.ended

    return play(act, Let(HOST, "http", upgrade=True, terms=Terms(max_upload=50)))


def test_a_switch_that_the_server_really_made_passes_bytes():
    seen, got, _, [(_, traffic)] = websocket(ACCEPTED)

    assert b"Upgrade: websocket" in seen
    assert b"Connection: Upgrade" in seen
    assert seen.endswith(b"up" * 20)
    assert got == ACCEPTED + b"down"
    assert traffic.status == 101
    assert traffic.bytes_up > 40


def test_a_switch_that_answers_another_handshake_is_no_switch():
    _, got, problems, _ = websocket(ACCEPTED.replace(b"s3pP", b"xxxx"))

    assert got.startswith(b"HTTP/1.1 502")
    assert "handshake" in problems[0]


def test_a_server_may_decline_to_switch():
    _, got, problems, _ = websocket(OK)

    assert got.startswith(b"HTTP/1.1 200 OK")
    assert problems == [""]


def test_what_new_rules_forbid_is_ended():
    async def act(stage):
        box = stage.dial()
        await box.send(GET)
        far = await stage.dialer.accept()
        await head_of(far)
        stage.gate.judge = type(stage.gate)().judge
        ended = stage.proxy.recheck()
        return ended, await rest_of(box), await rest_of(far), await stage.problems()

    count, got, far, problems = play(act)

    assert count == 1
    assert got.startswith(b"HTTP/1.1 403")
    assert far == b""
    assert problems == [BY_RULES]


def test_what_new_rules_still_let_goes_on():
    async def act(stage):
        box = stage.dial()
        await box.send(GET)
        far = await stage.dialer.accept()
        await head_of(far)
        count = stage.proxy.recheck()
        await far.send(OK)
        return count, await head_of(box)

    assert play(act) == (0, OK)


@pytest.mark.parametrize(
    ("problem", "cut", "status"), [("", False, None), ("", True, 504), (BY_RULES, True, 403)]
)
def test_silence_and_new_rules_are_told_apart_from_an_end_in_order(problem, cut, status):
    async def run():
        carried = Carried(None, Meter(Terms(), Ledger()), 1.0)
        with carried.scope:
            if cut:
                carried.cut(problem)
            await lowlevel.checkpoint()
        return ended(carried)

    refusal = anyio.run(run)

    assert (refusal and refusal.status) == status


def test_what_waits_for_another_request_is_closed_with_new_rules():
    async def act(stage):
        box = stage.dial()
        await box.send(GET)
        far = await stage.dialer.accept()
        await head_of(far)
        await far.send(OK)
        await head_of(box)
        stage.proxy.recheck()
        return await rest_of(far)

    assert play(act) == b""


def test_a_yes_that_cannot_be_carried_out_has_its_end_on_record():
    async def act(stage):
        box = stage.dial()
        await box.send(SWITCH + b"Upgrade: tcp\r\n\r\n")
        await rest_of(box)
        return await stage.problems()

    [problem] = play(act, Let(HOST, "http", upgrade=True))

    assert "websocket" in problem


@pytest.mark.parametrize(
    ("sends", "host", "method"),
    [
        (b"GET http://a.example/x HTTP/1.1\r\nHost: b.example\r\n\r\n", HOST, "GET"),
        (
            b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1\r\n\r\nx",
            HOST,
            "CONNECT",
        ),
        (b"GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n", "(unreadable)", "GET"),
        (b"GET http://a.example/x HTTP/1.1\nHost: b.example\n\n", "(unreadable)", None),
    ],
)
def test_what_could_not_be_judged_is_on_record_as_far_as_it_could_be_read(sends, host, method):
    async def act(stage):
        box = stage.dial()
        await box.send(sends)
        await rest_of(box)
        return stage.gate.unreadable

    [(request, decision)] = play(act)

    assert (request.host, request.method) == (host, method)
    assert (decision.effect, decision.rule) == ("deny", "malformed")
