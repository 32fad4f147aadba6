"""A git server as the world has them: ``git http-backend`` behind TLS and Basic, on loopback."""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from orchestrator.egress.inject.head import basic_pair
from tests.support.http_body import body_of
from tests.support.https_server import https_server


@dataclass
class GitServer:
    """Serves the repositories of a folder to who knows the password, and keeps what was asked."""

    folder: Path
    user: str
    password: str
    port: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Method and target of each request; those without the password first get a 401."""
    refused: int = 0

    def run(self, method: str, target: str, headers: dict[str, str], body: bytes) -> bytes:
        path, _, query = target.partition("?")
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REMOTE_USER": self.user,
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=env, capture_output=True, check=True
        )
        return done.stdout


@contextmanager
def git_server(
    folder: Path, context: ssl.SSLContext, *, user: str, password: str
) -> Iterator[GitServer]:
    """Serve the folder's repositories over TLS."""
    served = GitServer(folder, user, password)
    handler = type("Handler", (_Handler,), {"served": served})
    with https_server(handler, context) as served.port:
        yield served


class _Handler(BaseHTTPRequestHandler):
    served: GitServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = body_of(self, headers)
        if basic_pair(headers.get("authorization", "")) != (self.served.user, self.served.password):
            self.served.refused += 1
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.served.asked.append((self.command, self.path))
        answer = self.served.run(self.command, self.path, headers, body)
        head, _, content = answer.partition(b"\r\n\r\n")
        lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(lines.pop("Status", "200 OK").split()[0]))
        for name, value in lines.items():
            self.send_header(name, value)
        self.send_header("X-Echo", headers["authorization"])
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815 - the name that the server calls

    def log_message(self, *_: object) -> None:
        """Say nothing."""
