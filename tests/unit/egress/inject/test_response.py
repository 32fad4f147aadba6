import gzip
import zlib

import pytest

from orchestrator.egress.inject.cookies import SeenCookies
from orchestrator.egress.inject.echoes import Echoes
from orchestrator.egress.inject.frames import FrameScrubber
from orchestrator.egress.inject.response import ResponseScrubber, ScrubRefused

SECRET, PLACEHOLDER = "topsecret-0123456789", "gbx_abcdefghijABCDEF"
ECHO = SECRET.encode()
CLEAN = PLACEHOLDER.encode()


def scrubber(cookies: SeenCookies | None = None, *, whole: bool = True) -> ResponseScrubber:
    echoes = Echoes({SECRET: PLACEHOLDER})
    return ResponseScrubber(echoes, "api.example.com", cookies or SeenCookies(), whole=whole)


def cleaned(one: ResponseScrubber, *pieces: bytes) -> bytes:
    return b"".join(part for piece in pieces for part in one.body(piece)) + one.end()


def test_echo_is_removed_from_head_and_body():
    """Reason, names, values, redirects and cookies; lengths stay."""
    one = scrubber()
    reason, headers = one.head(
        302,
        b"Moved for " + ECHO,
        (
            (b"Location", b"https://x.example/?token=" + ECHO),
            (b"Set-Cookie", b"t=" + ECHO + b"; Path=/"),
            (b"X-" + ECHO, b"1"),
            (b"Content-Length", b"20"),
        ),
    )

    assert reason == b"Moved for " + CLEAN
    assert headers == (
        (b"Location", b"https://x.example/?token=" + CLEAN),
        (b"Set-Cookie", b"t=" + CLEAN + b"; Path=/"),
        (b"X-" + CLEAN, b"1"),
        (b"Content-Length", b"20"),
    )
    assert cleaned(one, ECHO[:7], ECHO[7:]) == CLEAN
    assert not one.decoded


def test_cookies_set_are_remembered():
    cookies = SeenCookies()
    scrubber(cookies).head(200, b"", ((b"SET-COOKIE", b"sid=7; Secure"),))

    assert cookies.unknown("api.example.com", ["sid=7"]) is None


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("deflate", zlib.compress),
    ],
)
@pytest.mark.parametrize("size", [1, 10_000])
def test_compressed_answer_is_unpacked_and_clean(coding, packed, size):
    """A server may compress against our wish; then the length is another one."""
    one = scrubber()
    data = packed(b"a" * 100_000 + ECHO + b"b" * 10)
    _, headers = one.head(
        200,
        b"OK",
        (
            (b"Content-Encoding", coding.encode()),
            (b"Content-Length", str(len(data)).encode()),
            (b"Content-MD5", b"x"),
            (b"Content-Type", b"text/plain"),
        ),
    )

    assert headers == ((b"Content-Type", b"text/plain"),)
    assert one.decoded
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert cleaned(one, *pieces) == b"a" * 100_000 + CLEAN + b"b" * 10


def test_bomb_comes_in_bounded_pieces():
    """A kilobyte that unpacks to megabytes is never whole in memory."""
    one = scrubber()
    one.head(200, b"", ((b"Content-Encoding", b"gzip"),))
    sizes = [len(piece) for piece in one.body(gzip.compress(bytes(20_000_000)))]

    assert sum(sizes) == 20_000_000
    assert max(sizes) <= 256 * 1024


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "aws-chunked,gzip"])
def test_encoding_that_cannot_be_read_is_refused(coding):
    """What cannot be searched is not passed on."""
    with pytest.raises(ScrubRefused, match="cannot be looked for"):
        scrubber().head(200, b"", ((b"Content-Encoding", coding.encode()),))


def test_part_of_something_compressed_is_refused():
    with pytest.raises(ScrubRefused, match="a part of"):
        scrubber(whole=False).head(206, b"", ((b"Content-Encoding", b"gzip"),))


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_packed_file_of_who_was_sent_no_secret_passes_as_it_is(size):
    """It may be stored that way, and its digest be known; held back is only what may be a secret."""
    data = gzip.compress(b"x" * 500 + ECHO[:9] + b" y" * 500 + ECHO[:12], mtime=0)
    one = scrubber(whole=False)
    head = ((b"Content-Encoding", b"gzip"), (b"Content-Length", str(len(data)).encode()))
    pieces = [data[at : at + size] for at in range(0, len(data), size)]

    assert one.head(200, b"", head) == (b"", head)
    assert not one.decoded
    assert cleaned(one, *pieces) == data


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_packed_secret_is_broken_off_before_any_of_it_passed(size):
    """Stored without compression, so that each byte of it is there to be seen."""
    packer = zlib.compressobj(0, zlib.DEFLATED, 31)
    data = packer.compress(b"before " + ECHO + b" after") + packer.flush()
    one, passed = scrubber(whole=False), bytearray()
    one.head(200, b"", ((b"Content-Encoding", b"gzip"),))

    def pass_on() -> None:
        for at in range(0, len(data), size):
            for piece in one.body(data[at : at + size]):
                passed.extend(piece)

    with pytest.raises(ScrubRefused, match="a credential of this session"):
        pass_on()
    assert ECHO[:2] not in passed


@pytest.mark.parametrize("status", [206, 226])
def test_piece_is_refused_from_who_may_not_give_one(status):
    with pytest.raises(ScrubRefused, match="piece of an answer"):
        scrubber().head(status, b"", ())
    assert scrubber(whole=False).head(status, b"", ()) == (b"", ())


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"not gzip at all", "damaged"),
        (gzip.compress(b"whole", mtime=0)[:-5], "ends too early"),
        (gzip.compress(b"whole", mtime=0) + b"more", "follows"),
    ],
)
def test_damaged_compression_is_refused(data, words):
    one = scrubber()
    one.head(200, b"", ((b"Content-Encoding", b"gzip"),))

    with pytest.raises(ScrubRefused, match=words):
        cleaned(one, data)


@pytest.mark.parametrize("status", [204, 304])
def test_answer_without_a_body_needs_no_unpacking(status):
    one = scrubber()
    _, headers = one.head(status, b"", ((b"Content-Encoding", b"br"),))

    assert headers == ((b"Content-Encoding", b"br"),)
    assert not one.decoded


def test_empty_body_of_a_head_request_is_whole():
    one = scrubber()
    one.head(200, b"", ((b"Content-Encoding", b"gzip"),))

    assert cleaned(one) == b""


def test_identity_is_plain():
    one = scrubber()
    _, headers = one.head(200, b"", ((b"Content-Encoding", b"identity"),))

    assert headers == ((b"Content-Encoding", b"identity"),)
    assert cleaned(one, ECHO) == CLEAN


def test_websocket_gets_its_own_cleaning():
    assert isinstance(scrubber().websocket(), FrameScrubber)
