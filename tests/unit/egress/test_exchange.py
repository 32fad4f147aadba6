"""What one request becomes on its way to the server, and its answer on the way back."""

import anyio
import pytest

from orchestrator.egress.answer import MAX_INFORMATIONAL
from orchestrator.egress.exchange import REPEATABLE
from orchestrator.egress.limits import Limits
from orchestrator.egress.scripted import Let
from orchestrator.schema.egress import Budget, Terms
from tests.support.egress_scene import HOST, head_of, rest_of, scene, some_of

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def get(path=b"/x", *, method=b"GET", headers=b"", body=b"", version=b"1.1"):
    head = b"%s http://a.example%s HTTP/%s\r\nHost: a.example\r\n%s\r\n"
    return head % (method, path, version, headers) + body


def play(act, *rules, **more):
    async def run():
        async with scene(*rules, **more) as stage:
            return await act(stage)

    return anyio.run(run)


def upstream_of(request, *, answer=OK, rules=()):
    """What the server got for a request, until its connection was closed."""

    async def act(stage):
        box = stage.dial()
        await box.send(request)
        far = await stage.dialer.accept()
        seen = await head_of(far)
        await far.send(answer)
        got = await head_of(box)
        await stage.over()
        return seen + await rest_of(far), got, stage

    return play(act, *rules)


def test_a_request_is_written_anew_for_its_server():
    """Target and headers byte for byte, those of the hop and of the proxy left out, none added."""
    seen, got, _ = upstream_of(
        get(
            b"/a%2fb//c?d=\\",
            headers=b"Proxy-Authorization: Basic eA==\r\nX-Case: Keep Me\r\n"
            b"Connection: X-Hop, keep-alive\r\nX-Hop: 1\r\nTE: trailers\r\n",
        )
    )

    assert seen == (b"GET /a%2fb//c?d=\\ HTTP/1.1\r\nHost: a.example\r\nX-Case: Keep Me\r\n\r\n")
    assert got == OK


def test_the_answer_loses_what_is_for_one_hop():
    _, got, _ = upstream_of(
        get(),
        answer=b"HTTP/1.1 404 Not Here\r\nConnection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: 1\r\n"
        b"Proxy-Authenticate: Basic\r\nAlt-Svc: h2=x\r\nX-Left: 1\r\nContent-Length: 0\r\n\r\n",
    )

    assert got == b"HTTP/1.1 404 Not Here\r\nX-Left: 1\r\nContent-Length: 0\r\n\r\n"


def test_a_body_passes_in_either_framing():
    async def act(stage):
        results = []
        for headers, body in (
            (b"Content-Length: 5\r\n", b"hello"),
            (b"Transfer-Encoding: chunked\r\n", b"2;ext=1\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"),
        ):
            box = stage.dial()
            await box.send(get(method=b"POST", headers=headers, body=body))
            far = await stage.dialer.accept()
            seen = await head_of(far)
            if b"hello" not in seen and not seen.endswith(b"0\r\n\r\n"):
                seen += await some_of(far, 5)
            await far.send(OK)
            results.append((seen.partition(b"\r\n\r\n")[2], await head_of(box)))
        return results

    sized, chunked = play(act)

    assert sized == (b"hello", OK)
    assert chunked[0] == b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
    assert chunked[1] == OK


@pytest.mark.parametrize(
    ("answer", "got"),
    [
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        ),
        (
            b"HTTP/1.1 200 OK\r\n\r\nabc",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        ),
        (
            b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc",
            b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 204 No Content\r\n\r\n"),
        (
            b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
            b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
        ),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK, OK),
    ],
)
def test_an_answer_is_framed_anew_and_the_connection_goes_on(answer, got):
    async def act(stage):
        box = stage.dial()
        await box.send(get())
        far = await stage.dialer.accept()
        await head_of(far)
        await far.send(answer, last=True)
        first = await some_of(box, len(got))
        await box.send(get(b"/second"))
        far = await stage.dialer.accept()
        second = await head_of(far)
        await far.send(OK)
        return first, second, await head_of(box)

    first, second, last = play(act)

    assert first == got
    assert second.startswith(b"GET /second")
    assert last == OK


def test_an_answer_to_head_has_no_body_whatever_its_length_says():
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    _, got, _ = upstream_of(get(method=b"HEAD"), answer=answer)

    assert got == answer


def test_an_older_client_gets_the_end_of_the_connection():
    async def act(stage):
        answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        return await stage.ask(get(version=b"1.0"), answer)

    assert play(act) == b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"


def test_connections_are_kept_on_both_sides():
    async def act(stage):
        box = stage.dial()
        seen = []
        far = None
        for number in range(3):
            await box.send(get(b"/%d" % number))
            far = far or await stage.dialer.accept()
            seen.append(await head_of(far))
            await far.send(OK)
            assert await head_of(box) == OK
        return seen, stage.dialer.dialled, stage.resolver.asked

    seen, dialled, asked = play(act)

    assert len(seen) == 3
    assert len(dialled) == len(asked) == 1


def test_new_rules_have_new_connections():
    """What was connected under other rules is not used again."""

    async def act(stage):
        box = stage.dial()
        for _ in range(2):
            await box.send(get())
            far = await stage.dialer.accept()
            await head_of(far)
            await far.send(OK)
            await head_of(box)
            stage.gate.generation += 1
        return stage.dialer.dialled

    assert len(play(act)) == 2


def test_bytes_after_the_end_never_become_the_next_answer():
    async def act(stage):
        box = stage.dial()
        await box.send(get())
        far = await stage.dialer.accept()
        await head_of(far)
        await far.send(OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        first = await some_of(box, len(OK))
        await box.send(get(b"/2"))
        again = await stage.dialer.accept()
        await head_of(again)
        await again.send(OK)
        return first, await head_of(box)

    assert play(act) == (OK, OK)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\nContent-Length: 1\n\nx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70000,
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 103 Hint\r\n\r\n" * (MAX_INFORMATIONAL + 1),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_an_answer_in_two_meanings_is_none(answer):
    """A hostile server's answer does not reach the box, and the box hears so."""

    async def act(stage):
        got = await stage.ask(get(), answer)
        return got, await stage.problems()

    got, problems = play(act)

    assert got.startswith(b"HTTP/1.1 502 Bad Gateway")
    assert b"x-glovebox-error: bad-answer" in got
    assert problems != [""]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ],
)
def test_a_server_that_breaks_off_is_no_end_in_order(answer):
    """The box must see that the answer is not whole."""

    async def act(stage):
        return await stage.ask(get(), answer), await stage.problems()

    got, problems = play(act)

    assert b"abc" in got
    assert not got.endswith(b"0\r\n\r\n")
    assert "the server" in problems[0]


def test_nothing_at_all_is_a_502():
    async def act(stage):
        return await stage.ask(get(), b"")

    got = play(act)

    assert got.startswith(b"HTTP/1.1 502")
    assert b"x-glovebox-error: broken" in got


@pytest.mark.parametrize(("method", "times"), [(b"GET", 2), (b"DELETE", 1)])
def test_only_what_may_be_repeated_is_sent_again_after_a_kept_connection_was_closed(method, times):
    assert {"POST", "DELETE", "PUT", "PATCH"}.isdisjoint(REPEATABLE)

    async def act(stage):
        box = stage.dial()
        await box.send(get())
        far = await stage.dialer.accept()
        await head_of(far)
        await far.send(OK)
        await head_of(box)
        await box.send(get(b"/again", method=method))
        await head_of(far)
        await far.close()
        if times == 2:
            again = await stage.dialer.accept()
            await head_of(again)
            await again.send(OK)
        return await head_of(box), len(stage.dialer.dialled)

    got, dialled = play(act)

    assert dialled == times
    assert got == OK if times == 2 else got.startswith(b"HTTP/1.1 502")


def test_a_body_waits_for_the_servers_word_where_the_client_does():
    async def act(stage):
        box = stage.dial()
        headers = b"Expect: 100-continue\r\nContent-Length: 5\r\n"
        await box.send(get(method=b"POST", headers=headers))
        far = await stage.dialer.accept()
        seen = await head_of(far)
        await far.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        word = await head_of(box)
        await box.send(b"hello")
        body = await some_of(far, 5)
        await far.send(OK)
        return seen, word, body, await head_of(box)

    seen, word, body, got = play(act)

    assert b"Expect: 100-continue" in seen
    assert word == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert (body, got) == (b"hello", OK)


def test_a_server_that_says_nothing_gets_the_body_in_the_end():
    async def act(stage):
        box = stage.dial()
        headers = b"Expect: 100-continue\r\nContent-Length: 5\r\n"
        await box.send(get(method=b"POST", headers=headers))
        far = await stage.dialer.accept()
        await head_of(far)
        word = await head_of(box)
        await box.send(b"hello")
        return word, await some_of(far, 5)

    assert play(act) == (b"HTTP/1.1 100 Continue\r\n\r\n", b"hello")


def test_an_early_answer_ends_the_upload():
    """What the server does not want is not sent on, and the box reads why."""

    async def act(stage):
        box = stage.dial()
        await box.send(get(method=b"POST", headers=b"Content-Length: 1000000\r\n", body=b"x"))
        far = await stage.dialer.accept()
        await head_of(far)
        await far.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        got = await head_of(box)
        return got, await rest_of(far)

    got, _ = play(act)

    assert got.startswith(b"HTTP/1.1 413")


def test_a_client_that_is_gone_frees_its_server():
    async def act(stage):
        box = stage.dial()
        await box.send(get())
        far = await stage.dialer.accept()
        await head_of(far)
        await stage.over()
        return await rest_of(far)

    assert play(act) == b""


def test_an_answer_may_come_after_the_client_said_its_last():
    """A program that closes its side only is still there."""

    async def act(stage):
        box = stage.dial()
        await box.send(get(), last=True)
        far = await stage.dialer.accept()
        await head_of(far)
        await far.send(OK)
        return await head_of(box)

    assert play(act) == OK


def test_a_fast_server_waits_for_a_slow_box():
    """Memory holds a bounded part of an endless answer."""

    async def act(stage):
        box = stage.dial()
        await box.send(get())
        far = await stage.dialer.accept()
        await head_of(far)
        await far.send(b"HTTP/1.1 200 OK\r\n\r\n")
        sent = 0
        with anyio.move_on_after(1):
            while True:
                await far.send(bytes(65536))
                sent += 65536
        return sent

    assert play(act) < 4 * 1024 * 1024


def limited(**terms):
    return Let(HOST, "http", terms=Terms(**terms))


@pytest.mark.parametrize("framing", ["sized", "chunked"])
@pytest.mark.parametrize(("size", "passes"), [(10, True), (11, False)])
def test_an_upload_is_bounded_to_the_byte(size, passes, framing):
    async def act(stage):
        box = stage.dial()
        if framing == "sized":
            request = get(
                method=b"POST", headers=b"Content-Length: %d\r\n" % size, body=b"x" * size
            )
        else:
            body = b"".join(b"1\r\nx\r\n" for _ in range(size)) + b"0\r\n\r\n"
            request = get(method=b"POST", headers=b"Transfer-Encoding: chunked\r\n", body=body)
        await box.send(request)
        if not passes:
            got = await rest_of(box)
            await stage.over()
            return got, stage
        far = await stage.dialer.accept()
        await head_of(far)
        await far.send(OK)
        return await head_of(box), stage

    got, stage = play(act, limited(max_upload=10))

    if passes:
        assert got == OK
    else:
        assert got.startswith(b"HTTP/1.1 413")
        assert b"max_upload is 10 bytes" in got
        assert b"x-glovebox-rule: rule-1" in got
        assert stage.dialer.dialled == [] or framing == "chunked"
        # The record of its end says so too.
        [(_, traffic)] = stage.gate.ended
        assert (traffic.refused, traffic.problem) == ("rule-1", "the rule's max_upload is 10 bytes")


def test_an_address_that_may_not_be_dialled_is_on_record_and_not_told_to_the_box():
    async def act(stage):
        box = stage.dial()
        await box.send(get())
        got = await rest_of(box)
        await stage.over()
        return got, stage

    got, stage = play(act, names={HOST: ["10.1.2.3"]})
    [(_, traffic)] = stage.gate.ended

    assert got.startswith(b"HTTP/1.1 403 Refused by policy")
    assert b"10.1.2.3" not in got
    assert (traffic.refused, traffic.address) == ("address", "10.1.2.3")


def test_a_server_that_fails_refuses_nothing():
    async def act(stage):
        got = await stage.ask(get(), b"SSH-2.0-OpenSSH\r\n\r\n")
        await stage.over()
        return got, stage

    _, stage = play(act)

    assert stage.gate.ended[0][1].refused == ""


@pytest.mark.parametrize("framing", ["sized", "chunked"])
@pytest.mark.parametrize(("size", "passes"), [(10, True), (11, False)])
def test_a_download_is_bounded_to_the_byte(size, passes, framing):
    async def act(stage):
        head = b"Content-Length: %d" % size if framing == "sized" else b"X: y"
        answer = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n" + b"x" * size
        box = stage.dial()
        await box.send(get())
        far = await stage.dialer.accept()
        await head_of(far)
        await far.send(answer, last=True)
        got = await head_of(box)
        if passes and framing == "chunked":
            got += await some_of(box, 5)
        return got if passes else got + await rest_of(box), await stage.problems()

    got, problems = play(act, limited(max_download=10))

    if passes:
        assert got.count(b"x" * 10) == 1
        assert problems == [""]
    elif framing == "sized":
        assert got.startswith(b"HTTP/1.1 403")
    else:
        assert b"x" * 10 in got
        assert b"x" * 11 not in got
        assert not got.endswith(b"0\r\n\r\n")
    if not passes:
        assert "max_download is 10 bytes" in problems[0]


def test_a_session_has_one_budget_over_its_connections():
    async def act(stage):
        first = await stage.ask(get(), OK)
        box = stage.dial()
        await box.send(get(b"/" + b"x" * 100))
        return first, await rest_of(box)

    budget = Budget("session/rule-1", upload=100)
    first, second = play(act, limited(budgets=(budget,)))

    assert first.startswith(b"HTTP/1.1 200")
    assert second.startswith((b"HTTP/1.1 403", b"HTTP/1.1 413"))
    assert b"session/rule-1" in second


def test_a_server_that_keeps_silent_is_a_time_out():
    async def act(stage):
        box = stage.dial()
        await box.send(get())
        far = await stage.dialer.accept()
        await head_of(far)
        return await rest_of(box), await stage.problems()

    got, problems = play(act, limits=Limits(idle_s=0.2, linger_s=0.1))

    assert got.startswith(b"HTTP/1.1 504")
    assert problems == ["nothing passed for 0.2 seconds"]


def test_what_passed_is_told_with_address_and_status():
    _, _, stage = upstream_of(get())
    [(admission, traffic)] = stage.gate.ended

    assert admission.request.target == "/x"
    assert (traffic.status, traffic.address, traffic.problem) == (200, "203.0.113.1", "")
    assert traffic.bytes_up == len(b"GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n")
    assert traffic.bytes_down == len(OK)
