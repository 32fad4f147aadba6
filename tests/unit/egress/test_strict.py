import pytest

from orchestrator.egress.strict import (
    MAX_HEAD,
    MAX_LINES,
    HeadScan,
    MessageError,
    check_request_head,
    check_response_head,
)

HOST = b"Host: a.example\r\n"


def request(line: bytes = b"GET / HTTP/1.1", headers: bytes = HOST) -> bytes:
    return line + b"\r\n" + headers + b"\r\n"


@pytest.mark.parametrize(
    "head",
    [
        request(),
        request(b"GET http://a.example/x?y=[] HTTP/1.1"),
        request(b"CONNECT a.example:443 HTTP/1.1"),
        request(b"GET / HTTP/1.0", b""),
        request(headers=HOST + b"X:\r\nY: \tv\t \r\nZ: caf\xc3\xa9\r\n"),
        request(b"POST / HTTP/1.1", HOST + b"Transfer-Encoding: Chunked\r\n"),
        request(b"POST / HTTP/1.1", HOST + b"Content-Length: 007\r\n"),
        request(headers=HOST + b"A: b\r\n" * (MAX_LINES - 1)),
        request(headers=HOST + b"Cookie: a\r\nCookie: b\r\n"),
    ],
)
def test_an_ordinary_request_passes(head):
    check_request_head(head)


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (request(b"GET /"), "request line"),
        (request(b"GET / HTTP/0.9"), "request line"),
        (request(b"GET / HTTP/2.0"), "request line"),
        (request(b"GET / http/1.1"), "request line"),
        (request(b"GET  / HTTP/1.1"), "request line"),
        (request(b"GET /a b HTTP/1.1"), "request line"),
        (request(b"GET\t/ HTTP/1.1"), "request line"),
        (request(b"GET / HTTP/1.1 "), "request line"),
        (request(b" GET / HTTP/1.1"), "request line"),
        (request(b"GET /\xc3\xa9 HTTP/1.1"), "request line"),
        (request(b"G(T / HTTP/1.1"), "request line"),
        (request(b"get / HTTP/1.1"), "request line"),
        (request(b"G%T / HTTP/1.1"), "request line"),
        (request(b"PRI * HTTP/1.1"), "HTTP/2"),
        (request(b"GET /\x00 HTTP/1.1"), "control"),
        (request(headers=b""), "Host"),
        (request(headers=HOST * 2), "Host"),
        (request(headers=HOST + b"X: a\n"), "bare"),
        (request(headers=HOST + b"X: a\rb\r\n"), "bare"),
        (request(headers=HOST + b"X: a\n\r\n"), "bare"),
        (request(headers=HOST + b"X: a\x00\r\n"), "control"),
        (request(headers=HOST + b"X: a\x7f\r\n"), "control"),
        (request(headers=HOST + b"X: a\r\n b\r\n"), "folded"),
        (request(headers=HOST + b"X: a\r\n\tb\r\n"), "folded"),
        (request(headers=b" Host: a.example\r\n"), "folded"),
        (request(headers=HOST + b"X : a\r\n"), "NAME"),
        (request(headers=HOST + b"X\r\n"), "NAME"),
        (request(headers=HOST + b": a\r\n"), "NAME"),
        (request(headers=HOST + b"X\xc3\xa9: a\r\n"), "NAME"),
        (request(headers=HOST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), "both"),
        (request(headers=HOST + b"Content-Length: 1\r\nContent-Length: 1\r\n"), "more than one"),
        (request(headers=HOST + b"Content-Length: 1, 1\r\n"), "plain number"),
        (request(headers=HOST + b"Content-Length: +1\r\n"), "plain number"),
        (request(headers=HOST + b"Content-Length: -1\r\n"), "plain number"),
        (request(headers=HOST + b"Content-Length: 0x1\r\n"), "plain number"),
        (request(headers=HOST + b"Content-Length: 1_0\r\n"), "plain number"),
        (request(headers=HOST + b"Content-Length: \r\n"), "plain number"),
        (request(headers=HOST + b"Content-Length: 9999999999999999999\r\n"), "plain number"),
        (request(headers=HOST + b"Content_Length: 1\r\n"), "underscore"),
        (request(headers=HOST + b"Transfer_Encoding: chunked\r\n"), "underscore"),
        (request(headers=HOST + b"Transfer-Encoding: identity\r\n"), "chunked alone"),
        (request(headers=HOST + b"Transfer-Encoding: gzip, chunked\r\n"), "chunked alone"),
        (request(headers=HOST + b"Transfer-Encoding: chunked, chunked\r\n"), "chunked alone"),
        (request(headers=HOST + b"Transfer-Encoding: \x0bchunked\r\n"), "control"),
        (request(headers=HOST + b"Transfer-Encoding: chunked\r\n" * 2), "more than one"),
        (request(b"GET / HTTP/1.0", b"Transfer-Encoding: chunked\r\n"), "chunked alone"),
        (request(headers=HOST + b"Upgrade: websocket, h2c\r\n"), "HTTP/2"),
        (request(headers=HOST + b"HTTP2-Settings: AAMAAABk\r\n"), "HTTP/2"),
        (request(headers=HOST + b"A: b\r\n" * MAX_LINES), "header lines"),
    ],
)
def test_a_request_that_could_be_read_in_two_ways_is_refused(head, says):
    with pytest.raises(MessageError, match=says):
        check_request_head(head)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200\r\n\r\n",
        b"HTTP/1.0 404 Not \xe9 Found\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
    ],
)
def test_an_ordinary_response_passes(head):
    check_response_head(head)


@pytest.mark.parametrize(
    ("head", "says"),
    [
        (b"HTTP/2 200 OK\r\n\r\n", "status line"),
        (b"HTTP/1.1 20 OK\r\n\r\n", "status line"),
        (b"HTTP/1.1 600 OK\r\n\r\n", "status line"),
        (b"HTTP/1.1  200 OK\r\n\r\n", "status line"),
        (b"ICY 200 OK\r\n\r\n", "status line"),
        (b"HTTP/1.1 200 OK\nX: y\r\n\r\n", "bare"),
        (b"HTTP/1.1 200 OK\r\nX: y\r\n z\r\n\r\n", "folded"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "both",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "more than one"),
        (b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "chunked alone"),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "no body"),
        (b"HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n", "no body"),
    ],
)
def test_a_response_that_could_be_read_in_two_ways_is_refused(head, says):
    with pytest.raises(MessageError, match=says):
        check_response_head(head)


def test_a_head_is_found_however_it_is_cut():
    """Where pieces end means nothing, and what follows the head is given back whole."""
    message = request() + b"rest\r\n\r\n"
    for size in range(1, len(message) + 1):
        scan, at, found = HeadScan(), 0, None
        while found is None:
            found = scan.feed(message[at : at + size])
            at += size
        assert found[0] == request()
        assert found[1] + message[at:] == b"rest\r\n\r\n"


@pytest.mark.parametrize("first", [b"\r\n", b"\x16\x03\x01", b" GET", b"\x80", b"\x00"])
def test_what_begins_no_message_is_refused_at_once(first):
    with pytest.raises(MessageError, match="first byte"):
        HeadScan().feed(first)


@pytest.mark.parametrize("cut", [b"GET / HTTP/1.1\nHost", b"GET / HTTP/1.1\rHost", b"GET \x00"])
def test_a_head_is_refused_before_its_end_came(cut):
    """A client that never sends an end in our form is not waited for."""
    scan = HeadScan()
    for byte in cut[:-1].partition(b"\n")[0].partition(b"\r")[0]:
        assert scan.feed(bytes([byte])) is None
    with pytest.raises(MessageError):
        scan.feed(cut)


def test_a_head_without_an_end_is_refused_at_its_bound():
    scan = HeadScan()
    scan.feed(b"GET / HTTP/1.1\r\nX: ")
    with pytest.raises(MessageError, match="longer") as caught:
        scan.feed(b"a" * MAX_HEAD)
    assert caught.value.status == 431
