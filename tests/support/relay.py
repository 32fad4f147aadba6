"""A relay on loopback before a model server: passes every byte on, and keeps what was asked.

An independent mock tells of requests only what it made of them; here is what came over the wire.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tests.support.model_server import Asked

MOST = 65_536
LAST = b"\r\n0\r\n\r\n"
"""The empty chunk; a header may end in a zero too."""


class Relay:
    """Relays to one address; ``asked`` grows with each request that was sent whole."""

    def __init__(self, address: str) -> None:
        """Listen at a free port."""
        parts = urlsplit(address)
        self._to = (parts.hostname or "", parts.port or 80)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.asked: list[Asked] = []
        self.hung_up = threading.Event()
        """Set once a client left before its answer was whole."""
        self._threads: list[threading.Thread] = []

    @property
    def address(self) -> str:
        """``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def accept(self) -> None:
        """Relay until the listening socket is closed."""
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._relay, args=(client,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Accept no more, and wait for what is under way."""
        # Closing alone does not wake who waits in accept.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join(10)

    def _relay(self, client: socket.socket) -> None:
        with client, socket.create_connection(self._to) as server:
            ended = threading.Event()
            back = threading.Thread(target=self._pass_back, args=(server, client, ended))
            back.start()
            self._pass_on(client, server)
            if not ended.is_set():
                self.hung_up.set()
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            back.join(10)

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        received = b""
        with suppress(OSError):
            while data := client.recv(MOST):
                received += data
                # Noted before it is passed on: whoever has an answer finds what was asked.
                received = self._note(received)
                server.sendall(data)

    def _note(self, received: bytes) -> bytes:
        """Keep a request that is whole, and return what follows it."""
        head, blank, rest = received.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines[1:])
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", "0"))
        if not blank or len(rest) < length:
            return received
        method, path, _ = lines[0].split(" ")
        body = json.loads(rest[:length]) if length else None
        self.asked.append(Asked(method, path, headers, body))
        return rest[length:]

    def _pass_back(
        self, server: socket.socket, client: socket.socket, ended: threading.Event
    ) -> None:
        with suppress(ConnectionResetError):
            while data := server.recv(MOST):
                if data.endswith(LAST) or data == LAST[2:]:
                    ended.set()
                try:
                    client.sendall(data)
                except OSError:
                    # The client left; its side tells so.
                    return
        ended.set()
        with suppress(OSError):
            client.shutdown(socket.SHUT_WR)


@contextmanager
def relaying(address: str) -> Iterator[Relay]:
    """Relay to a server while the context is open."""
    relay = Relay(address)
    thread = threading.Thread(target=relay.accept)
    thread.start()
    try:
        yield relay
    finally:
        relay.close()
        thread.join(10)
