import ssl
from collections.abc import Iterator

import anyio
import pytest

from orchestrator.egress.memory import stream_pair
from orchestrator.egress.tls.stream import TlsError, TlsStream
from orchestrator.egress.tls.upstream import CertificateError, connect, upstream_context
from tests.support.certificates import ServerAuthority, make_old

HOST = "api.example.com"


@pytest.fixture(scope="module")
def authority() -> Iterator[ServerAuthority]:
    return ServerAuthority()


def met(server: ssl.SSLContext, host: str, client: ssl.SSLContext) -> bytes:
    """Connect to such a server; return what it got, up to the client's end."""

    async def scene() -> bytes:
        below_client, below_server = stream_pair()
        got = b""

        async def serve() -> None:
            nonlocal got
            inside = TlsStream(below_server, server, None)
            try:
                await inside.start()
                while data := await inside.receive():
                    got += data
            except TlsError:
                return

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            try:
                outside = await connect(below_client, host, client)
                await outside.send(b"asked", last=True)
            finally:
                await below_client.close()
        return got

    try:
        return anyio.run(scene)
    except BaseExceptionGroup as group:
        (error,) = group.exceptions
        raise error from None


@pytest.mark.parametrize(
    ("names", "host"),
    [
        ([HOST], HOST),
        (["*.example.com"], HOST),
        (["203.0.113.7"], "203.0.113.7"),
        (["2001:db8::7"], "2001:db8::7"),
    ],
)
def test_server_that_proves_its_name_is_talked_to(authority, tmp_path, names, host):
    """By an extra authority of the user's, for names and addresses."""
    server = authority.server_context(tmp_path, *names)

    assert met(server, host, upstream_context(authority.pem)) == b"asked"


@pytest.mark.parametrize(
    ("names", "when", "words"),
    [
        (["other.example.com"], {}, "another name"),
        (["*.com"], {}, "another name"),
        (["203.0.113.7"], {}, "another name"),
        ([HOST], {"from_days": -9, "days": -2}, "expired"),
        ([HOST], {"from_days": 2, "days": 9}, "not valid yet"),
    ],
)
def test_server_with_a_wrong_certificate_is_told_nothing(authority, tmp_path, names, when, words):
    """The problem has a name, and not a byte went out."""
    server = authority.server_context(tmp_path, *names, **when)

    with pytest.raises(CertificateError, match=words) as caught:
        met(server, HOST, upstream_context(authority.pem))
    assert words in caught.value.problem


def test_address_on_the_certificate_is_compared(authority, tmp_path):
    server = authority.server_context(tmp_path, "203.0.113.7")

    with pytest.raises(CertificateError, match="another address"):
        met(server, "203.0.113.8", upstream_context(authority.pem))


def test_authority_that_nobody_named_is_not_trusted(authority, tmp_path):
    """Neither for a chain nor for a server that vouches for itself."""
    server = authority.server_context(tmp_path, HOST)

    with pytest.raises(CertificateError, match="authority that is not trusted"):
        met(server, HOST, upstream_context())


def test_server_of_old_tls_is_refused(authority, tmp_path):
    """The least is TLS 1.2."""
    server = authority.server_context(tmp_path, HOST)
    make_old(server)

    with pytest.raises(TlsError, match="TLS failed") as caught:
        met(server, HOST, upstream_context(authority.pem))
    assert not isinstance(caught.value, CertificateError)


def test_http_1_1_is_asked_for(authority, tmp_path):
    """A server that could do more is asked for what the proxy can judge."""
    server = authority.server_context(tmp_path, HOST)
    server.set_alpn_protocols(["h2", "http/1.1"])

    assert met(server, HOST, upstream_context(authority.pem)) == b"asked"


def test_extra_authorities_must_be_certificates():
    """A wrong file is said, not passed over."""
    with pytest.raises(ValueError, match="PEM"):
        upstream_context("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")


def test_server_that_is_no_tls_server_is_said():
    async def scene() -> None:
        ours, theirs = stream_pair()
        await theirs.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        with pytest.raises(TlsError, match="TLS failed: wrong version number"):
            await connect(ours, HOST, upstream_context())

    anyio.run(scene)
