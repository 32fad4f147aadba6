import contextlib
import datetime as dt
import gc
import ssl
import subprocess
from pathlib import Path

import anyio
import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from orchestrator.egress.memory import stream_pair
from orchestrator.egress.seams import ByteStream
from orchestrator.egress.tls.authority import Authority
from orchestrator.egress.tls.hello import read_hello
from orchestrator.egress.tls.stream import TlsError, TlsStream
from orchestrator.egress.tls.upstream import upstream_context
from tests.support.tls_server import listening

HOST = "api.example.com"
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi"


class Clock:
    def __init__(self) -> None:
        self.now = dt.datetime.now(dt.UTC)

    def __call__(self) -> dt.datetime:
        return self.now


def leaf_shown(authority: Authority, host: str, *, name: str | None = None) -> x509.Certificate:
    """The certificate that a client of ``host`` is shown, verified by OpenSSL."""

    async def scene() -> bytes:
        below_client, below_server = stream_pair()
        context = upstream_context(authority.certificate)
        client = TlsStream(below_client, context, name or host)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(authority.terminate, below_server, host)
            await client.start()
        assert client.peer_certificate is not None
        return client.peer_certificate

    return x509.load_der_x509_certificate(anyio.run(scene))


def answered(authority: Authority, host: str, *command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a client that is not ours against our side; PORT and CA in its arguments are filled in."""

    async def serve(stream: ByteStream) -> None:
        with contextlib.suppress(OSError):
            _hello, stream = await read_hello(stream)
            inside = await authority.terminate(stream, host)
            await inside.receive()
            await inside.send(ANSWER, last=True)

    async def scene() -> subprocess.CompletedProcess[bytes]:
        async with listening(serve) as port:
            words = [word.replace("PORT", str(port)) for word in command]
            return await anyio.run_process(words, check=False, input=b"GET / HTTP/1.0\r\n\r\n")

    return anyio.run(scene)


@pytest.fixture
def authority_file(tmp_path: Path) -> tuple[Authority, Path]:
    authority = Authority("0123abcd")
    path = tmp_path / "ca.pem"
    path.write_text(authority.certificate)
    return authority, path


def test_root_says_whose_it_is_and_what_it_may():
    """Its name leads a person to the session; it signs servers' certificates and no other authority."""
    clock = Clock()
    root = x509.load_pem_x509_certificate(Authority("0123abcd", now=clock).certificate.encode())
    basic = root.extensions.get_extension_for_class(x509.BasicConstraints)
    usage = root.extensions.get_extension_for_class(x509.KeyUsage)

    assert root.subject.rfc4514_string() == "O=Glovebox,CN=Glovebox session 0123abcd"
    assert basic.critical
    assert (basic.value.ca, basic.value.path_length) == (True, 0)
    assert usage.critical
    assert usage.value.key_cert_sign
    assert not usage.value.digital_signature
    assert root.not_valid_before_utc <= clock.now - dt.timedelta(hours=23)
    assert root.not_valid_after_utc <= clock.now + dt.timedelta(days=91)


def test_two_sessions_share_nothing():
    """One session's box does not believe another session's proxy."""
    one, other = Authority("one"), Authority("other")
    below_client, below_server = stream_pair()

    async def scene() -> None:
        client = TlsStream(below_client, upstream_context(one.certificate), HOST)

        async def serve() -> None:
            with pytest.raises(TlsError):
                await (await other.terminate(below_server, HOST)).receive()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            with pytest.raises(TlsError, match="certificate verify failed"):
                await client.start()
            await client.close()

    anyio.run(scene)


@pytest.mark.parametrize(
    "host", [HOST, "xn--bcher-kva.example", "a_b.example.com", f"{'l' * 63}.{'m' * 63}.example"]
)
def test_certificate_is_for_exactly_the_host(host):
    """A long name stands only where clients look for it."""
    leaf = leaf_shown(Authority("test"), host)
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value

    assert [name.value for name in names] == [host]
    assert not leaf.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


@pytest.mark.parametrize("host", ["203.0.113.7", "2001:db8::7"])
def test_address_has_a_certificate_too(host):
    """Such a client sends no name."""
    names = (
        leaf_shown(Authority("test"), host)
        .extensions.get_extension_for_class(x509.SubjectAlternativeName)
        .value
    )

    assert [str(name.value) for name in names] == [host]


def test_strict_verifier_agrees():
    """A second implementation of the web's rules accepts what we sign."""
    authority = Authority("test")
    store = Store([x509.load_pem_x509_certificate(authority.certificate.encode())])
    verifier = PolicyBuilder().store(store).build_server_verifier(x509.DNSName(HOST))

    assert len(verifier.verify(leaf_shown(authority, HOST), [])) == 2


def test_other_name_in_the_handshake_is_refused():
    """OpenSSL's own reading of the name is held against the host as well."""
    authority = Authority("test")

    async def scene() -> None:
        below_client, below_server = stream_pair()
        client = TlsStream(below_client, upstream_context(authority.certificate), "other.example")

        async def fail() -> None:
            with pytest.raises(TlsError, match="unrecognized name"):
                await client.start()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)
            with pytest.raises(TlsError):
                await authority.terminate(below_server, HOST)

    anyio.run(scene)


def test_certificates_are_kept_and_the_oldest_forgotten():
    """As many as were used last."""
    authority = Authority("test")
    first, second = authority.context("h0.example"), authority.context("h1.example")
    for number in range(2, 257):
        authority.context("h0.example")
        authority.context(f"h{number}.example")

    assert authority.context("h0.example") is first
    assert authority.context("h1.example") is not second


def test_certificate_is_renewed_before_it_ends():
    """A session that runs for weeks is never shown an old one."""
    clock = Clock()
    authority = Authority("test", now=clock)
    first = authority.context(HOST)
    clock.now += dt.timedelta(days=5)
    same = authority.context(HOST)
    clock.now += dt.timedelta(days=2)

    assert same is first
    assert authority.context(HOST) is not first


def test_no_key_is_on_disk_or_open(tmp_path, monkeypatch):
    """What OpenSSL read the key from is gone at once, and never had a name."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = set(Path("/proc/self/fd").iterdir())
    gc.collect()
    authority = Authority("test")
    authority.context(HOST)

    assert set(Path("/proc/self/fd").iterdir()) <= before
    assert list(tmp_path.iterdir()) == []
    assert "PRIVATE" not in repr(vars(authority))


def test_curl_believes_the_session(authority_file):
    """A client that is not ours, with nothing but the root, gets its answer."""
    authority, path = authority_file
    done = answered(
        authority,
        HOST,
        *("curl", "-sS", "--cacert", str(path), "--connect-to", f"{HOST}:443:127.0.0.1:PORT"),
        f"https://{HOST}/",
    )

    assert (done.stdout, done.stderr) == (b"hi", b"")


def test_curl_without_the_root_refuses(authority_file):
    """Nobody outside the box has reason to believe it."""
    authority, _path = authority_file
    done = answered(
        authority,
        HOST,
        *("curl", "-sS", "--connect-to", f"{HOST}:443:127.0.0.1:PORT", f"https://{HOST}/"),
    )

    assert done.returncode == 60


def test_openssl_verifies_strictly(authority_file):
    """Chain, name and the strictest checks that OpenSSL has."""
    authority, path = authority_file
    done = answered(
        authority,
        HOST,
        *("openssl", "s_client", "-connect", "127.0.0.1:PORT", "-servername", HOST),
        *("-CAfile", str(path), "-x509_strict", "-verify_hostname", HOST, "-alpn", "h2,http/1.1"),
        *("-verify_return_error", "-quiet"),
    )

    assert done.stdout == ANSWER
    assert b"verify error" not in done.stderr


def test_only_http_1_1_is_agreed_on():
    """A client that offers more gets what the proxy can judge."""
    authority = Authority("test")
    context = ssl.create_default_context(cadata=authority.certificate)
    context.set_alpn_protocols(["h2", "http/1.1"])

    async def scene() -> None:
        below_client, below_server = stream_pair()
        client = TlsStream(below_client, context, HOST)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(authority.terminate, below_server, HOST)
            await client.start()
        assert client.protocol == "http/1.1"

    anyio.run(scene)
