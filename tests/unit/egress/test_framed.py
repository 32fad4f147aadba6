import anyio
import h11
import pytest
from anyio import lowlevel

from orchestrator.egress.framed import BrokenOffError, read_request, read_response
from orchestrator.egress.memory import stream_pair
from orchestrator.egress.reader import ReadAhead
from orchestrator.egress.strict import MAX_HEAD, MessageError

POST = b"POST / HTTP/1.1\r\nHost: a.example\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


def reading(data, read, size):
    """Read messages from bytes that come in pieces of a size, and then end."""

    async def run():
        near, far = stream_pair(capacity=10**6)
        reader = ReadAhead(near)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reader.run)

            async def write():
                for at in range(0, len(data), size):
                    await far.send(data[at : at + size])
                    for _ in range(5):
                        await lowlevel.checkpoint()
                await far.send(b"", last=True)

            tasks.start_soon(write)
            try:
                result = await read(reader)
            except (MessageError, BrokenOffError) as error:
                result = error
            tasks.cancel_scope.cancel()
        return result

    result = anyio.run(run)
    if isinstance(result, Exception):
        raise result
    return result


async def body_of(framed):
    body = b""
    while not isinstance(event := framed.event(), h11.EndOfMessage):
        if event is None:
            await framed.more()
        else:
            body += event.data
    return body


async def requests(reader):
    found = []
    while got := await read_request(reader, keep_s=5, head_s=5):
        found.append((got[0].method, await body_of(got[1])))
    return found


async def response(reader):
    parser = h11.Connection(h11.CLIENT)
    parser.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    parser.send(h11.EndOfMessage())
    head, framed = await read_response(reader, parser)
    return head.status_code, await body_of(framed)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_messages_are_the_same_however_they_are_cut(size):
    data = (
        POST
        + b"Content-Length: 3\r\n\r\nabc"
        + POST
        + CHUNKED
        + b"2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
        + b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"
    )

    assert reading(data, requests, size) == [(b"POST", b"abc"), (b"POST", b"hello"), (b"GET", b"")]


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"zz\r\n", "hexadecimal"),
        (b"-1\r\nx\r\n", "hexadecimal"),
        (b"0x1\r\nx\r\n", "hexadecimal"),
        (b"1\r\nxy\r\n", "size says|framing"),
        (b"1\nx\r\n0\r\n\r\n", "hexadecimal"),
        (b"1;a\nb\r\nx\r\n0\r\n\r\n", "hexadecimal"),
        (b"1;a\rb\r\nx\r\n0\r\n\r\n", "hexadecimal"),
        (b"1\r\nx\n0\r\n\r\n", "size says|framing"),
        (b"1\r\nx\r\n0\r\n\n", "bare"),
        (b"1\r\nx\r\n0\r\nX: y\n\n", "bare"),
        (b"1\r\nx\r\n0\r\nX: y\r\n\r\n", "trailers"),
        (b"1\r\nx\r\n0\r\nX y\r\n\r\n", "framing"),
        (b"1" * 21 + b"\r\n", "hexadecimal"),
        (b"1;" + b"a" * (MAX_HEAD + 10), "too long"),
    ],
)
def test_a_body_whose_end_is_in_doubt_is_refused(body, says, size):
    with pytest.raises(MessageError, match=says):
        reading(POST + CHUNKED + body, requests, size if len(body) < 1000 else 65536)


@pytest.mark.parametrize("data", [b"GET", POST + b"Content-Length: 3\r\n\r\nab", POST + CHUNKED])
def test_a_message_that_breaks_off_is_no_message(data):
    with pytest.raises(BrokenOffError):
        reading(data, requests, 1000)


def test_a_head_that_comes_in_drops_takes_no_longer_than_another():
    async def run():
        near, far = stream_pair()
        reader = ReadAhead(near)

        async def drip():
            for byte in b"GET / HTTP/1.1\r\nX: " + b"a" * 1000:
                await far.send(bytes([byte]))
                await anyio.sleep(0.01)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(reader.run)
            tasks.start_soon(drip)
            with pytest.raises(TimeoutError):
                await read_request(reader, keep_s=5, head_s=0.2)
            tasks.cancel_scope.cancel()

    anyio.run(run)


def test_a_head_may_take_no_longer_than_it_may():
    async def run():
        near, _far = stream_pair()
        with pytest.raises(TimeoutError):
            await read_request(ReadAhead(near), keep_s=0.05, head_s=5)

    anyio.run(run)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", (200, b"abc")),
        (b"HTTP/1.1 200 OK\r\n\r\nabc", (200, b"abc")),
        (b"HTTP/1.1 200 OK\r\n" + CHUNKED + b"3\r\nabc\r\n0\r\nX: y\r\n\r\n", (200, b"abc")),
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_a_response_is_read_to_its_end(data, found, size):
    assert reading(data, response, size) == found


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\n" + CHUNKED + b"3\r\nabc\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\n" + CHUNKED + b"3\r\nabc\r\n0\r\n\n", MessageError),
    ],
)
def test_a_response_that_is_not_whole_is_none(data, error):
    with pytest.raises(error):
        reading(data, response, 1000)
