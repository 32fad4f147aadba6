"""A server that gives back whatever it was sent, in every way it can think of."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import quote

from tests.support.http_body import body_of
from tests.support.https_server import https_server


@dataclass
class EchoServer:
    port: int
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    """Method, target and headers of each request."""
    bodies: list[bytes] = field(default_factory=list)
    last: str = ""
    """What carried a credential last, of all requests ever."""
    held: Callable[[], None] | None = None
    """Is called while a request to ``hold`` waits."""


@contextmanager
def echo_server(context: ssl.SSLContext) -> Iterator[EchoServer]:
    """Serve over TLS on loopback; the path says in which way."""
    served = EchoServer(0)
    handler = type("Handler", (_Handler,), {"served": served})
    with https_server(handler, context) as served.port:
        yield served


class _Handler(BaseHTTPRequestHandler):
    served: EchoServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.served.bodies.append(body_of(self, headers))
        self.served.asked.append((self.command, self.path, headers))
        given = headers.get("x-api-key") or headers.get("authorization", "").split(" ")[-1]
        self.served.last = given or self.served.last
        way = self.path.partition("?")[0].rpartition("/")[2]
        getattr(self, f"way_{way}")(self.served.last)

    do_HEAD = do_GET  # noqa: N815 - the names that the server calls
    do_POST = do_GET  # noqa: N815
    do_PUT = do_GET  # noqa: N815

    def answer(self, body: bytes, **headers: str) -> None:
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def way_plain(self, given: str) -> None:
        self.answer(f"you sent {given}, {given}.\n".encode(), X_Echo=given)

    def way_store(self, _given: str) -> None:
        self.answer(b"" if self.command == "PUT" else b"what was stored")

    def way_hold(self, given: str) -> None:
        if self.served.held is not None:
            self.served.held()
        self.way_plain(given)

    def way_json(self, given: str) -> None:
        coded = base64.b64encode(given.encode()).decode()
        forms = [given, coded, given.encode().hex(), quote(given, safe=""), quote(quote(given))]
        self.answer(json.dumps({"forms": forms, "target": self.path}).encode())

    def way_redirect(self, given: str) -> None:
        self.send_response(302, f"Found {given}")
        self.send_header("Location", f"https://{self.headers['host']}/v1/plain?token={given}")
        self.send_header("Set-Cookie", f"session={given}; Path=/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def way_chunked(self, given: str) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Trailer", "X-Echo")
        self.end_headers()
        for char in f"<{given}>":
            self.wfile.write(f'1;note="{given}"\r\n{char}\r\n'.encode())
        self.wfile.write(f"0\r\nX-Echo: {given}\r\n\r\n".encode())

    def way_range(self, given: str) -> None:
        whole, asked = f"<{given}>".encode(), self.headers.get("range", "")
        start, _, end = asked.removeprefix("bytes=").partition("-")
        if not asked and "x-part" not in self.headers:
            self.answer(whole)
            return
        piece = whole[int(start or 0) : int(end or 7) + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(piece)))
        self.end_headers()
        self.wfile.write(piece)

    def way_gzip(self, given: str) -> None:
        self.answer(gzip.compress(f"packed {given}\n".encode()), Content_Encoding="gzip")

    def way_br(self, given: str) -> None:
        self.answer(b"\x8b" + given.encode(), Content_Encoding="br")

    def way_close(self, given: str) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(f"until the end {given}".encode())
        self.wfile.flush()
        self.connection.unwrap()

    def way_cut(self, given: str) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(f"until it breaks {given}".encode())

    def way_error(self, given: str) -> None:
        body = f"no such thing: {given}".encode()
        self.send_response(404, f"{given} not found")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def way_socket(self, given: str) -> None:
        accept = hashlib.sha1(
            f"{self.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()
        ).digest()
        self.send_response(101, "Switching Protocols")
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(accept).decode())
        self.send_header("X-Echo", given)
        self.end_headers()
        text = given.encode()
        half = len(text) // 2
        self.wfile.write(bytes([0x01, half]) + text[:half])
        self.wfile.write(bytes([0x80, len(text) - half]) + text[half:])
        self.wfile.write(b"\x88\x02\x03\xe8")
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""
