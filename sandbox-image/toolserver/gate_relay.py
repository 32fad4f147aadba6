"""The gate's end in the box: takes questions of programs on a socket, passes them to the host.

Run by the host as a program with pipes, as the command's user: a line of JSON a question goes out
(``{"id": n, "body": {…}}``), a line an answer comes in (``{"id": n, "answer": {…}}``). Nothing is
decided here. When the host's end is gone, so is this, and who waits gets no answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
from typing import Any

SOCKET = "\0glovebox-gate"
"""In the abstract namespace, which is the box's own."""
MOST_ASKED = 64
"""Questions that wait; more are turned away."""
MAX_LINE = 1024 * 1024
MOST_DEEP = 64
"""Levels of a question; the host reads few more."""
READ_SIZE = 65_536


class Relay:
    """One session's."""

    def __init__(self, listener: socket.socket, answers: int, questions: int) -> None:
        """Listen on ``listener``; the others are descriptors of the host's ends."""
        self._listener = listener
        self._answers = answers
        self._questions = questions
        self._heard = bytearray()
        self._asking: dict[int, tuple[socket.socket, bytearray]] = {}
        self._waiting: dict[int, socket.socket] = {}
        self._latest = 0

    def run(self) -> None:
        """Serve until the host says no more."""
        while True:
            room = len(self._asking) + len(self._waiting) < MOST_ASKED
            heard: list[Any] = [self._answers, *([self._listener] if room else [])]
            heard += [connection for connection, _ in self._asking.values()]
            ready, _, _ = select.select(heard, [], [], None)
            for one in ready:
                if one is self._listener:
                    connection, _ = self._listener.accept()
                    self._asking[connection.fileno()] = (connection, bytearray())
                elif one == self._answers:
                    if not self._take_answers():
                        return
                elif isinstance(one, socket.socket) and one.fileno() in self._asking:
                    self._hear(one)

    def _hear(self, connection: socket.socket) -> None:
        _, said = self._asking[connection.fileno()]
        try:
            data = connection.recv(READ_SIZE)
        except OSError:
            data = b""
        said += data
        if b"\n" in said:
            del self._asking[connection.fileno()]
            self._ask(connection, bytes(said.partition(b"\n")[0]))
        elif not data or len(said) > MAX_LINE:
            del self._asking[connection.fileno()]
            connection.close()

    def _ask(self, connection: socket.socket, line: bytes) -> None:
        try:
            body = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict) or _is_deep(body, MOST_DEEP):
            connection.close()
            return
        self._latest += 1
        self._waiting[self._latest] = connection
        question = json.dumps({"id": self._latest, "body": body}, ensure_ascii=False)
        # Half a character becomes what programs make of one when they write it.
        whole = question.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        _write(self._questions, whole.encode() + b"\n")

    def _take_answers(self) -> bool:
        data = os.read(self._answers, READ_SIZE)
        self._heard += data
        while b"\n" in self._heard:
            line, _, rest = self._heard.partition(b"\n")
            self._heard = bytearray(rest)
            self._answer(json.loads(line))
        return bool(data)

    def _answer(self, told: dict[str, Any]) -> None:
        connection = self._waiting.pop(int(told["id"]), None)
        if connection is None:
            return
        # Who asked may have gone.
        with contextlib.suppress(OSError):
            connection.sendall(json.dumps(told["answer"]).encode() + b"\n")
        connection.close()


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _is_deep(value: object, left: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left == 0 or any(_is_deep(one, left - 1) for one in inner)


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def main(_words: list[str]) -> int:
    """Serve on the box's socket; the first line out says that it is there."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(SOCKET)
    listener.listen(MOST_ASKED)
    _write(1, b'{"id": 0, "body": {}}\n')
    Relay(listener, 0, 1).run()
    return 0
