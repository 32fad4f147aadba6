"""A receiver of questions on loopback: an own HTTP server that checks and signs as the page says."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import secrets
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SHARED = "shared-secret-of-the-receiver"


@dataclass
class Back:
    """What goes back; by default nothing yet."""

    status: int = 202
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Got:
    """One message that came."""

    kind: str
    data: dict[str, Any]
    nonce: str
    genuine: bool


@dataclass
class Receiver:
    """Keeps what came, and answers as ``respond`` says."""

    url: str = ""
    respond: Callable[[Got], Back] = lambda _: Back(headers={"Retry-After": "1"})
    got: list[Got] = field(default_factory=list)

    def of(self, kind: str) -> list[Got]:
        """Return the messages of one kind."""
        return [one for one in self.got if one.kind == kind]


def mac(kind: str, timestamp: str, nonce: str, body: bytes, *, key: str = SHARED) -> str:
    """Return a signature, computed apart from the product's own code."""
    head = f"glovebox-v1\n{kind}\n{timestamp}\n{nonce}\n".encode()
    return "v1=" + hmac.new(key.encode(), head + body, hashlib.sha256).hexdigest()


def signed(data: Mapping[str, Any], *, key: str = SHARED, age: float = 0, nonce: str = "") -> Back:
    """Return a signed answer."""
    body = json.dumps(data).encode()
    timestamp, nonce = str(int(time.time() - age)), nonce or secrets.token_hex(16)
    headers = {
        "Glovebox-Timestamp": timestamp,
        "Glovebox-Nonce": nonce,
        "Glovebox-Signature": mac("answer", timestamp, nonce, body, key=key),
    }
    return Back(200, body, headers)


def says(answer: str, **more: Any) -> Callable[[Got], Back]:
    """Return a respond that answers every question."""

    def respond(got: Got) -> Back:
        if got.kind != "question":
            return Back(204)
        return signed(reply_to(got, answer, **more))

    return respond


def reply_to(got: Got, answer: str, **more: Any) -> dict[str, Any]:
    """Return the data of an answer to one message."""
    said = {"id": got.data["id"], "digest": got.data["digest"], "reply_to": got.nonce}
    return said | {"answer": answer, "who": "bo"} | more


def certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Return a certificate of this machine that nobody vouches for, and a server's side of it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "receiver")])
    now = datetime.now(UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    chain, private = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, private)
    return chain, context


@contextmanager
def receiving(
    respond: Callable[[Got], Back] | None = None, *, tls: ssl.SSLContext | None = None
) -> Iterator[Receiver]:
    """Give a receiver that listens until the end of the block."""
    receiver = Receiver()
    if respond is not None:
        receiver.respond = respond

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            data = json.loads(body)
            nonce = self.headers["Glovebox-Nonce"]
            wanted = mac(data["type"], self.headers["Glovebox-Timestamp"], nonce, body)
            genuine = hmac.compare_digest(wanted, self.headers["Glovebox-Signature"])
            got = Got(data["type"], data, nonce, genuine)
            receiver.got.append(got)
            back = receiver.respond(got)
            self.send_response(back.status)
            for name, value in back.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(back.body)))
            self.end_headers()
            self.wfile.write(back.body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    scheme = "https" if tls is not None else "http"
    receiver.url = f"{scheme}://127.0.0.1:{server.server_port}/questions"
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
