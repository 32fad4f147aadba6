import anyio
import pytest

from orchestrator.egress.connect_answer import connect_request, read_answer, refusal_text
from orchestrator.egress.memory import stream_pair
from orchestrator.egress.strict import MessageError


def read(data, *, whole=True):
    async def run():
        near, far = stream_pair()
        for at in range(0, len(data), 7):
            await far.send(data[at : at + 7])
        await far.send(b"", last=whole)
        status, stream = await read_answer(near)
        rest = b""
        while piece := await stream.receive():
            rest += piece
        return status, rest

    return anyio.run(run)


def test_request_names_one_place_twice():
    assert connect_request("a.example", 443, None) == (
        b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"
    )
    assert connect_request("2001:db8::1", 22, b"Basic eA==") == (
        b"CONNECT [2001:db8::1]:22 HTTP/1.1\r\nHost: [2001:db8::1]:22\r\n"
        b"Proxy-Authorization: Basic eA==\r\n\r\n"
    )


def test_bytes_behind_the_head_are_the_servers():
    """A server that speaks first may be heard together with the answer."""
    assert read(b"HTTP/1.0 200 Connection established\r\nVia: x\r\n\r\nSSH-2.0-x\r\n") == (
        200,
        b"SSH-2.0-x\r\n",
    )


def test_refusal_may_have_a_body():
    status, _ = read(b"HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno")

    assert status == 403


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\n\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n folded: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"x" * 70_000 + b"\r\n\r\n",
    ],
)
def test_answer_without_one_meaning_opens_nothing(answer):
    async def run():
        near, far = stream_pair(1 << 20)
        await far.send(answer, last=True)
        await read_answer(near)

    with pytest.raises(MessageError):
        anyio.run(run)


def test_refusals_tell_the_next_step():
    assert "egress.upstream_proxy.secret" in refusal_text(407, 443, with_secret=False)
    assert "keys set" in refusal_text(407, 443, with_secret=True)
    assert "port 80 (status 403)" in refusal_text(403, 80, with_secret=False)
    assert "status 503" in refusal_text(503, 80, with_secret=False)
