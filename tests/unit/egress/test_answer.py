"""Answers to requests that had a credential, and answers that somebody looks at."""

import contextlib
import gzip
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import pytest

from orchestrator.egress.inject.injector import Injector
from orchestrator.egress.inject.placeholders import Placeholders
from orchestrator.egress.scripted import Let
from orchestrator.egress.session_tls import SessionTls
from orchestrator.egress.tls.authority import Authority
from orchestrator.egress.tls.upstream import upstream_context
from orchestrator.schema.egress import InjectionTerms, Terms
from tests.support.egress_scene import HOST, head_of, rest_of, scene, some_of
from tests.support.secrets import FixedSecrets

KEY = "live-key-0123456789"
HEADER = InjectionTerms("session/rule-1", "api", "header", "X-Api-Key")
AWS = InjectionTerms("session/rule-1", "aws", "sigv4", "eu-west-1/execute-api")
SERVERS = Authority("servers")
GET = b"GET https://a.example/x HTTP/1.1\r\nHost: a.example\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def play(act, *injections, tls=True, rule=None, **more):
    """Play with a server of TLS, and a credential that goes to it."""

    async def run():
        book = Placeholders(FixedSecrets(api=KEY, aws="AKIA2222333344445555:" + "r" * 40))
        found = SessionTls(Authority("box"), upstream_context(SERVERS.certificate))
        let = rule or Let(HOST, upgrade=True, terms=Terms(injections=injections))
        injector = more.pop("injector", Injector(book))
        async with scene(let, tls=found if tls else None, injector=injector, **more) as stage:
            return await act(stage, book)

    return anyio.run(run)


def asked(answer, request=GET, *injections):
    async def act(stage, book):
        own = book.credential("api").placeholder
        box = stage.dial()
        request_ = request.replace(b"PLACEHOLDER", own.encode())
        await box.send(request_ + b"Connection: close\r\n\r\n")
        far = await SERVERS.terminate(await stage.dialer.accept(), HOST)
        seen = await head_of(far)
        with contextlib.suppress(OSError):
            await far.send(answer, last=True)
        return seen, await rest_of(box), own.encode()

    return play(act, *(injections or (HEADER,)))


@pytest.mark.parametrize("sent", [b"", b"X-Api-Key: PLACEHOLDER\r\n"])
def test_a_credential_goes_out_and_no_echo_of_it_comes_back(sent):
    """Neither in the status line, nor in headers, nor in the body however it is cut."""
    answer = (
        b"HTTP/1.1 200 live-key-0123456789\r\nX-Echo: live-key-0123456789\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n8\r\nlive-key\r\nb\r\n-0123456789\r\n0\r\n\r\n"
    )
    seen, got, own = asked(answer, GET + sent)

    assert seen.count(KEY.encode()) == 1
    assert b"X-Api-Key: " + KEY.encode() in seen
    assert b"Accept-Encoding: identity" in seen
    assert KEY.encode() not in got
    assert b"live-key" not in got
    assert got.count(own) >= 2


def test_lengths_stay_as_they_were():
    _, got, own = asked(b"HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n" + KEY.encode())

    assert b"Content-Length: 19\r\n" in got
    assert got.endswith(b"\r\n\r\n" + own)


def test_an_answer_that_was_packed_is_unpacked_to_be_looked_at():
    body = gzip.compress(b"x" * 1000 + KEY.encode())
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    _, got, own = asked(answer + body)

    assert b"Transfer-Encoding: chunked" in got
    assert b"x" * 1000 in got
    assert own in got
    assert b"gzip" not in got


def test_an_answer_that_cannot_be_looked_into_does_not_reach_the_box():
    _, got, _ = asked(b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nxx")

    assert got.startswith(b"HTTP/1.1 502")
    assert b"xx" not in got


def test_frames_of_a_websocket_are_cleaned():
    async def act(stage, book):
        own = book.credential("api").placeholder.encode()
        box = stage.dial()
        await box.send(
            GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        far = await SERVERS.terminate(await stage.dialer.accept(), HOST)
        seen = await head_of(far)
        await far.send(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
        )
        got = await head_of(box)
        await far.send(b"\x81\x13" + KEY.encode())
        return seen, got, await some_of(box, 21), own

    seen, got, frame, own = play(act, HEADER)

    assert KEY.encode() in seen
    assert got.startswith(b"HTTP/1.1 101")
    assert frame == b"\x81\x13" + own


def refused(request, *injections, **more):
    async def act(stage, _book):
        box = stage.dial()
        await box.send(request)
        return await rest_of(box), stage.dialer.dialled

    return play(act, *injections, **more)


def test_another_credential_is_refused_before_anything_is_connected_to():
    got, dialled = refused(GET + b"X-Api-Key: foreign\r\n\r\n", HEADER)

    assert got.startswith(b"HTTP/1.1 403 Refused by policy")
    assert b"not this session's" in got
    assert b"foreign" not in got
    assert dialled == []


def test_a_credential_goes_nowhere_without_tls():
    rule = Let(HOST, "http", terms=Terms(injections=(HEADER,)))
    got, dialled = refused(GET.replace(b"https", b"http") + b"\r\n", rule=rule)

    assert got.startswith(b"HTTP/1.1 403")
    assert b"verified TLS" in got
    assert dialled == []


def test_a_session_without_credentials_refuses_what_needs_them():
    got, dialled = refused(GET + b"\r\n", HEADER, injector=None)

    assert b"no credentials" in got
    assert dialled == []


@pytest.mark.parametrize("body", [b"", b"hello"])
def test_a_body_that_is_signed_is_read_before_the_head_is_sent(body):
    async def act(stage, book):
        pair = book.variables([AWS])
        identity = next(value for value in pair.values() if value.startswith("AKIA"))
        scope = b"20260101/eu-west-1/execute-api/aws4_request"
        box = stage.dial()
        await box.send(
            GET.replace(b"GET", b"POST")
            + b"X-Amz-Date: 20260101T000000Z\r\nContent-Length: %d\r\nAuthorization: "
            b"AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=host;x-amz-date, Signature=%s"
            b"\r\n\r\n" % (len(body), identity.encode(), scope, b"0" * 64) + body
        )
        far = await SERVERS.terminate(await stage.dialer.accept(), HOST)
        seen = await head_of(far)
        seen += await some_of(far, len(body) - len(seen.partition(b"\r\n\r\n")[2]))
        await far.send(OK)
        return seen, await head_of(box)

    seen, got = play(act, AWS)

    assert b"AKIA2222333344445555" in seen
    assert seen.endswith(b"\r\n\r\n" + body)
    assert got == OK


@dataclass
class Looking:
    """Looks on, and says in which order it was told what."""

    told: list[object] = field(default_factory=list)

    def watch(self, admission):
        self.told.append(admission.request.target)
        return self

    def request(self, headers):
        return tuple(item for item in headers if item[0] != b"If-None-Match")

    def response(self, status, headers):
        self.told.append((status, dict(headers).get(b"X")))

    def data(self, chunk):
        self.told.append(chunk)

    async def end(self, *, whole):
        await anyio.lowlevel.checkpoint()
        self.told.append(whole)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (
            b"HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
            ["/x", (200, b"y"), b"ab", True],
        ),
        (
            b"HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 5\r\n\r\nab",
            ["/x", (200, b"y"), b"ab", False],
        ),
        (b"", ["/x", False]),
    ],
)
def test_who_looks_on_is_told_all_and_whether_it_was_whole(answer, told):
    looking = Looking()

    async def act(stage, _book):
        box = stage.dial()
        await box.send(GET + b"If-None-Match: x\r\n\r\n")
        far = await SERVERS.terminate(await stage.dialer.accept(), HOST)
        seen = await head_of(far)
        await far.send(answer, last=True)
        await rest_of(box) if not told[-1] else await head_of(box)
        await stage.over()
        return seen

    seen = play(act, watch=looking)

    assert b"If-None-Match" not in seen
    assert looking.told == told


class Slow(Looking):
    """Takes its time over the end, until it is let go."""

    def __init__(self):
        super().__init__()
        self.reads, self.done = anyio.Event(), anyio.Event()

    async def end(self, *, whole):
        self.reads.set()
        await self.done.wait()
        await super().end(whole=whole)


def passed(size):
    """How much the box had before who looks on had read a page of that size, and after it."""
    slow = Slow()

    async def act(stage, _book):
        box = stage.dial()
        await box.send(GET + b"Connection: close\r\n\r\n")
        far = await SERVERS.terminate(await stage.dialer.accept(), HOST)
        await head_of(far)
        got = bytearray()

        async def receive():
            while piece := await box.receive():
                got.extend(piece)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(receive)
            head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size
            await far.send(head + b"x" * size, last=True)
            await slow.reads.wait()
            await anyio.wait_all_tasks_blocked()
            before = len(got)
            slow.done.set()
        return before, len(got)

    return play(act, watch=slow, rule=Let(HOST, terms=Terms(inspect=True)))


def test_the_last_piece_waits_until_who_looks_on_has_read_it():
    """A client that counts the bytes would act on a page that nobody has read yet."""
    size = 200_000
    before, after = passed(size)

    assert before < size < after
