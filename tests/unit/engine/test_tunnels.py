import datetime as dt
import socket
import ssl
import subprocess
import threading
from types import SimpleNamespace

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from orchestrator.engine.attachment import plain_socket


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate that trusts itself, in one file with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "engine.test")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("engine.test")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "engine.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
def tls(certificate):
    """An attachment over TLS, and the engine's end."""
    ours, theirs = socket.socketpair()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    accepted = []
    thread = threading.Thread(
        target=lambda: accepted.append(server.wrap_socket(theirs, server_side=True))
    )
    thread.start()
    client = ssl.create_default_context(cafile=certificate)
    stream = client.wrap_socket(ours, server_hostname="engine.test")
    thread.join()
    [engine] = accepted
    engine.settimeout(5)
    attachment = plain_socket(stream)
    attachment.socket.settimeout(5)
    yield attachment, engine
    attachment.close()
    engine.close()


def received(stream, size):
    data = b""
    while len(data) < size:
        piece = stream.recv(65_536)
        assert piece, f"ended after {len(data)} of {size}"
        data += piece
    return data


def test_bulk_goes_both_ways_over_tls_at_once(tls):
    """Neither direction waits for the other."""
    attachment, engine = tls
    data = bytes(range(256)) * 8000
    up = threading.Thread(target=lambda: attachment.socket.sendall(data))
    down = threading.Thread(target=lambda: engine.sendall(data))
    up.start()
    got = received(engine, len(data))
    up.join()
    down.start()
    back = received(attachment.socket, len(data))
    down.join()

    assert got == back == data


def test_closing_is_seen_over_tls(tls):
    """The box's lifeline ends with the attachment."""
    attachment, engine = tls
    attachment.close()

    assert engine.recv(10) == b""


def test_end_of_the_container_is_seen_over_tls(tls):
    """So that nobody waits for a box that is gone."""
    attachment, engine = tls
    engine.shutdown(socket.SHUT_RDWR)

    assert attachment.socket.recv(10) == b""


@pytest.fixture
def ssh():
    """An attachment over a process's standard streams, as the SDK runs ssh."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(["cat"], stdin=pipe, stdout=pipe)
    attachment = plain_socket(SimpleNamespace(proc=process))
    attachment.socket.settimeout(5)
    yield attachment, process
    attachment.close()
    process.wait(5)
    process.stdout.close()


def test_small_pieces_pass_a_process_without_waiting_for_more(ssh):
    """A heartbeat must not wait until a buffer is full."""
    attachment, _ = ssh
    attachment.socket.sendall(b"ping")

    assert received(attachment.socket, 4) == b"ping"


def test_closing_ends_the_process(ssh):
    """And the remote end with it."""
    attachment, process = ssh
    attachment.close()

    assert process.wait(5) is not None


def test_end_of_the_process_is_seen(ssh):
    """A lost connection is a lost box."""
    attachment, process = ssh
    process.kill()

    assert attachment.socket.recv(10) == b""
