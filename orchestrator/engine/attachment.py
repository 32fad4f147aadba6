"""The stream of an attached container as one plain socket, whatever carries it to the engine."""

from __future__ import annotations

import socket
import ssl
import subprocess
from contextlib import suppress
from typing import Any

from orchestrator.engine.tunnels import start_process_pumps, start_tls_pump
from orchestrator.errors import EngineError


class Attachment:
    """A held stream: a non-blocking socket to wait on, and its one way to be closed."""

    def __init__(self, sock: socket.socket, keep: object) -> None:
        """``keep`` is what would close the socket if it were collected."""
        self.socket = sock
        self._keep = keep
        self._closed = False

    def detach(self) -> socket.socket:
        """Return the stream for another process to go on with; this one lets go of it unseen."""
        passed = self.socket.dup()
        self._closed = True
        self.socket.close()
        self._drop()
        return passed

    def close(self) -> None:
        """Let go; the container sees the end of its standard input."""
        if self._closed:
            return
        self._closed = True
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self._drop()

    @property
    def direct(self) -> bool:
        """True where the socket leads to the engine without a pump of this process."""
        return self._keep is not None

    def _drop(self) -> None:
        close = getattr(self._keep, "close", None)
        if close is not None:
            with suppress(OSError):
                close()
        self._keep = None


def plain_socket(stream: Any) -> Attachment:
    """Return the SDK's attach stream as an attachment; TLS and SSH ones are pumped."""
    raw = getattr(stream, "_sock", stream)
    if type(raw) is socket.socket:
        # A wrapper's time-out would make reads fail that merely wait.
        raw.settimeout(None)
        raw.setblocking(False)
        return Attachment(raw, stream)
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    process = getattr(stream, "proc", None)
    if isinstance(stream, ssl.SSLSocket):
        start_tls_pump(stream, theirs)
    elif isinstance(process, subprocess.Popen):
        start_process_pumps(process, theirs)
    else:
        ours.close()
        theirs.close()
        raise EngineError(f"engine: cannot attach through a {type(stream).__name__}")
    return Attachment(ours, None)
