import ssl
from itertools import pairwise

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.egress.memory import stream_pair
from orchestrator.egress.tls.hello import (
    MAX_HELLO,
    HelloError,
    HelloReader,
    parse_hello,
    read_hello,
)


def hello_of(name: str | None, *, alpn: list[str] | None = None) -> bytes:
    """What OpenSSL itself sends first."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    if alpn:
        context.set_alpn_protocols(alpn)
    out = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return out.read()


def block(size: int, data: bytes) -> bytes:
    return len(data).to_bytes(size) + data


def extension(kind: int, data: bytes) -> bytes:
    return kind.to_bytes(2) + block(2, data)


def made(
    *extensions: bytes,
    legacy: bytes = b"\x03\x03",
    session: bytes = b"",
    suites: bytes = b"\x13\x01",
    compression: bytes = b"\0",
) -> bytes:
    """A ClientHello put together by hand, in one record."""
    body = legacy + bytes(32) + block(1, session) + block(2, suites) + block(1, compression)
    body += block(2, b"".join(extensions))
    return in_records(b"\x01" + block(3, body), 16_384)


def in_records(message: bytes, size: int) -> bytes:
    return b"".join(
        b"\x16\x03\x01" + block(2, message[at : at + size]) for at in range(0, len(message), size)
    )


def name_extension(name: bytes) -> bytes:
    return extension(0, block(2, b"\0" + block(2, name)))


def test_hello_of_openssl_is_read():
    """Name, protocols and versions come out as a real client put them in."""
    hello = parse_hello(hello_of("api.example.com", alpn=["h2", "http/1.1"]))

    assert hello is not None
    assert hello.server_name == "api.example.com"
    assert hello.alpn == ("h2", "http/1.1")
    assert 0x0304 in hello.versions
    assert not hello.encrypted


def test_hello_without_a_name_has_none():
    hello = parse_hello(hello_of(None))

    assert hello is not None
    assert hello.server_name is None


def test_hello_without_extensions_is_read():
    """A client of TLS 1.2 may send no extensions, not even their length."""
    body = b"\x03\x03" + bytes(32) + block(1, b"") + block(2, b"\0\x2f") + block(1, b"\0")
    hello = parse_hello(in_records(b"\x01" + block(3, body), 16_384))

    assert hello is not None
    assert hello.versions == (0x0303,)


@pytest.mark.parametrize("kind", [0xFE0D, 0xFFCE])
def test_hidden_name_is_noticed(kind):
    """Encrypted Client Hello, in its final form and in its first one."""
    hello = parse_hello(made(name_extension(b"cover.example"), extension(kind, b"\0" * 8)))

    assert hello is not None
    assert hello.encrypted
    assert hello.server_name == "cover.example"


@given(cuts=st.lists(st.integers(0, 700)), size=st.integers(1, 700))
def test_hello_in_pieces_reads_the_same(cuts, size):
    """Nothing depends on how the bytes arrive."""
    whole = in_records(hello_of("api.example.com")[5:], size)
    reader = HelloReader()
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    answers = [reader.feed(whole[start:end]) for start, end in pairwise(edges)]

    assert next(filter(None, answers)) == parse_hello(whole)
    assert bytes(reader.seen) == whole


@given(size=st.integers(1, 700))
def test_hello_split_over_records_reads_the_same(size):
    """A name is found wherever the records are cut."""
    whole = hello_of("api.example.com")

    assert parse_hello(in_records(whole[5:], size)) == parse_hello(whole)


def test_every_beginning_of_a_hello_asks_for_more():
    """Nothing is decided before the message is whole, and nothing after it."""
    whole = hello_of("api.example.com")

    assert [parse_hello(whole[:end]) for end in range(len(whole))] == [None] * len(whole)
    assert parse_hello(whole + b"\x17\x03\x03 anything") == parse_hello(whole)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "SSH"),
        (b"S", "SSH"),
        (b"GET / HTTP/1.1\r\n", "text"),
        (b"PRI * HTTP/2.0\r\n", "text"),
        (b"\x80\x2e\x01\x00\x02\x00\x15", "SSL 2"),
        (b"\0", "something else"),
        (b"\x17\x03\x03\0\1a", "something else"),
        (b"\x16\x02", "unknown version"),
        (b"\x16\x03\x07", "unknown version"),
        (b"\x16\x03\x01\0\0", "empty or too long"),
        (b"\x16\x03\x01\x40\x01", "empty or too long"),
        (b"\x16\x03\x01\0\x04\x02", "no ClientHello"),
        (b"\x16\x03\x01\0\x05\x01\xff\xff\xff\0", "longer than"),
        (b"\x16\x03\x01\0\x05\x01\0\0\0\0", "follows"),
        (in_records(b"\x01\0\0\x01\0", 9), "past its end"),
    ],
)
def test_what_is_no_tls_is_refused_at_once(data, words):
    """The first byte that cannot be right is enough."""
    with pytest.raises(HelloError, match=words):
        parse_hello(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (made(legacy=b"\x03\x00"), "unknown version"),
        (made(legacy=b"\x03\x04"), "unknown version"),
        (made(session=bytes(33)), "session id"),
        (made(suites=b""), "ciphers"),
        (made(suites=b"\x13"), "ciphers"),
        (made(compression=b"\x01"), "uncompressed"),
        (made(name_extension(b"a.example"), name_extension(b"b.example")), "twice"),
        (made(name_extension(b"")), "no name"),
        (made(name_extension(b"a\0.example")), "no name"),
        (made(name_extension("é.example".encode())), "no name"),
        (made(name_extension(b"a b")), "no name"),
        (made(name_extension(b"a" * 256)), "no name"),
        (made(extension(0, block(2, b"\1" + block(2, b"a.example")))), "unknown kind"),
        (
            made(extension(0, block(2, b"\0" + block(2, b"a") + b"\0" + block(2, b"b")))),
            "left over",
        ),
        (made(extension(0, block(2, b"\0" + block(2, b"a")) + b"x")), "left over"),
        (made(extension(16, block(2, b""))), "protocols is empty"),
        (made(extension(16, block(2, block(1, b"")))), "no name"),
        (made(extension(43, block(1, b"\x03"))), "versions"),
        (made(extension(43, block(1, b""))), "versions"),
    ],
)
def test_malformed_hello_is_refused(data, words):
    """What two readers could take differently is not passed on."""
    with pytest.raises(HelloError, match=words):
        parse_hello(data)


def test_endless_hello_is_refused():
    """Records of one byte do not let a message grow past the bound either."""
    message = b"\x01" + (MAX_HELLO - 4).to_bytes(3) + bytes(MAX_HELLO)
    data = in_records(message[:16_000], 1)

    with pytest.raises(HelloError, match="longer than"):
        parse_hello(data)


@given(data=st.binary(max_size=300))
@example(data=b"\x16\x03\x01\x00\x01\x01" * 3)
def test_any_bytes_are_a_hello_or_an_error_or_too_few(data):
    """Nothing else comes out, whatever comes in."""
    try:
        hello = parse_hello(data)
    except HelloError:
        return
    assert hello is None or hello.versions


@given(at=st.integers(0, 600), byte=st.integers(0, 255), cut=st.integers(0, 600))
def test_damaged_hello_is_a_hello_or_an_error_or_too_few(at, byte, cut):
    """The same for bytes that are nearly right."""
    data = bytearray(hello_of("api.example.com", alpn=["http/1.1"]))
    data[at % len(data)] = byte
    try:
        hello = parse_hello(bytes(data[: len(data) - cut % 8]))
    except HelloError:
        return
    assert hello is None or hello.versions


@pytest.mark.parametrize("size", [1, 7, 5000])
def test_stream_gives_the_bytes_of_its_hello_again(size):
    """A tunnel that is not opened passes on exactly what the client sent."""
    data = hello_of("api.example.com") + b"what follows"

    async def scene() -> None:
        ours, client = stream_pair()
        for at in range(0, len(data), size):
            await client.send(data[at : at + size])
        await client.send(b"", last=True)
        hello, again = await read_hello(ours)
        assert hello.server_name == "api.example.com"
        got = b""
        while piece := await again.receive():
            got += piece
        assert got == data

    anyio.run(scene)


@pytest.mark.parametrize(("sent", "words"), [(b"", "before anything"), (b"\x16\x03\x01", "whole")])
def test_stream_that_ends_early_has_no_hello(sent, words):
    """An end is no reason to wait."""

    async def scene() -> None:
        ours, client = stream_pair()
        await client.send(sent, last=True)
        with pytest.raises(HelloError, match=words):
            await read_hello(ours)

    anyio.run(scene)
