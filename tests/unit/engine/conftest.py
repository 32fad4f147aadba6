"""A scripted engine: it speaks HTTP on a Unix socket and says what a test told it to say."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

Answer = tuple[int, Any]
"""Status and JSON body."""

DROP: Answer = (0, None)
"""Close the connection instead of answering."""


@dataclass
class ScriptedEngine:
    """Answers by method and path; a list of answers is used up one by one."""

    url: str
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    def say(self, question: str, *answers: Answer) -> None:
        """Set the answers to ``METHOD /path``; the last one is repeated."""
        self.answers[question] = list(answers)

    def reply(self, question: str) -> Answer:
        self.asked.append(question)
        queue = self.answers.get(question, [(404, {"message": f"no such thing: {question}"})])
        return queue.pop(0) if len(queue) > 1 else queue[0]


def _handler(engine: ScriptedEngine) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            if path.startswith("/v1."):
                path = "/" + path.split("/", 2)[2]
            status, body = engine.reply(f"{self.command} {path}")
            if status == 0:
                self.close_connection = True
                return
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in engine.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    return Handler


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


@pytest.fixture
def scripted_engine(tmp_path: Path) -> Iterator[ScriptedEngine]:
    """An engine that knows its version and nothing else yet."""
    path = tmp_path / "engine.sock"
    engine = ScriptedEngine(f"unix://{path}")
    engine.say("GET /version", (200, {"ApiVersion": "1.41", "Version": "20.10.24"}))
    with _Server(str(path), _handler(engine)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield engine
        server.shutdown()
        thread.join()


Steps = list[str]


@pytest.fixture
def steps() -> tuple[Steps, Callable[[str], None]]:
    """A list of reported steps, and the callable that adds to it."""
    said: Steps = []
    return said, said.append
