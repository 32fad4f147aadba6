"""The stream of an attached container as one plain socket, whatever carries it to the engine."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Any, Protocol, cast

_CHUNK = 65_536


class Stream(Protocol):
    """What the SDK gives for an encrypted or tunnelled connection: blocking, socket-like."""

    def recv(self, size: int, /) -> bytes:
        """Return some bytes, none at the end."""
        ...

    def sendall(self, data: bytes, /) -> None:
        """Send all."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


class Attachment:
    """A held stream: a non-blocking socket to wait on, and its one way to be closed."""

    def __init__(self, sock: socket.socket, keep: object) -> None:
        """``keep`` is what would close the socket if it were collected."""
        self.socket = sock
        self._keep = keep
        self._closed = False

    def close(self) -> None:
        """Let go; the container sees the end of its standard input."""
        if self._closed:
            return
        self._closed = True
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        close = getattr(self._keep, "close", None)
        if close is not None:
            with suppress(OSError):
                close()
        self._keep = None


def plain_socket(stream: Any) -> Attachment:
    """Return the SDK's attach stream as an attachment; TLS and SSH ones through two threads."""
    raw = getattr(stream, "_sock", stream)
    if type(raw) is socket.socket:
        sock = raw
        sock.settimeout(None)
        sock.setblocking(False)
        return Attachment(sock, stream)
    ours, theirs = socket.socketpair()
    source = cast("Stream", stream)
    for work in (_to_engine, _from_engine):
        threading.Thread(target=work, args=(source, theirs), daemon=True).start()
    ours.setblocking(False)
    return Attachment(ours, stream)


def _to_engine(stream: Stream, pipe: socket.socket) -> None:
    # Either end may vanish at any time; that is how this work ends.
    with suppress(OSError, ValueError):
        while data := pipe.recv(_CHUNK):
            stream.sendall(data)
    with suppress(OSError, ValueError):
        stream.close()


def _from_engine(stream: Stream, pipe: socket.socket) -> None:
    with suppress(OSError, ValueError):
        while data := stream.recv(_CHUNK):
            pipe.sendall(data)
    with suppress(OSError):
        pipe.shutdown(socket.SHUT_RDWR)
    pipe.close()
