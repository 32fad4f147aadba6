"""Streams that are no plain socket, TLS and SSH ones, pumped from and to a plain one by threads."""

from __future__ import annotations

import selectors
import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from typing import IO, cast

_CHUNK = 65_536
_MOST_WAITING = 1024 * 1024
"""Bytes that are held for an engine that does not read."""


def start_tls_pump(stream: ssl.SSLSocket, pipe: socket.socket) -> None:
    """Carry bytes between both until either ends; one thread, as TLS streams cannot be shared."""
    threading.Thread(target=_pump_tls, args=(stream, pipe), daemon=True).start()


def start_process_pumps(process: subprocess.Popen[bytes], pipe: socket.socket) -> None:
    """Carry bytes between an ssh process's standard streams and the pipe until either ends."""
    if process.stdin is None or process.stdout is None:
        raise ValueError("process without pipes")
    for work in (_to_process, _from_process):
        threading.Thread(target=work, args=(process, pipe), daemon=True).start()


def _to_process(process: subprocess.Popen[bytes], pipe: socket.socket) -> None:
    stdin = cast("IO[bytes]", process.stdin)
    # Either end may vanish at any time; that is how this work ends.
    with suppress(OSError, ValueError):
        while data := pipe.recv(_CHUNK):
            stdin.write(data)
            stdin.flush()
    with suppress(OSError, ValueError):
        stdin.close()
    process.terminate()
    process.wait()


def _from_process(process: subprocess.Popen[bytes], pipe: socket.socket) -> None:
    # ``read`` would wait until all it was asked for is there.
    read = getattr(process.stdout, "read1", None)
    with suppress(OSError, ValueError):
        while read is not None and (data := read(_CHUNK)):
            pipe.sendall(data)
    with suppress(OSError):
        pipe.shutdown(socket.SHUT_RDWR)
    pipe.close()


def _pump_tls(stream: ssl.SSLSocket, pipe: socket.socket) -> None:
    stream.setblocking(False)
    with selectors.DefaultSelector() as selector, suppress(OSError, ValueError):
        selector.register(stream, selectors.EVENT_READ)
        selector.register(pipe, selectors.EVENT_READ)
        waiting = bytearray()
        while True:
            _watch(selector, stream, pipe, full=len(waiting))
            selector.select()
            if not _take_in(pipe, waiting) or not _give_out(stream, pipe):
                break
            _send(stream, waiting)
    for end in (stream, pipe):
        # What is left unread must not keep the other side waiting.
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
    # The answer that the stream came from holds on to it.
    response = getattr(stream, "_response", None)
    if response is not None:
        response.close()


def _watch(
    selector: selectors.BaseSelector, stream: ssl.SSLSocket, pipe: socket.socket, *, full: int
) -> None:
    write = selectors.EVENT_WRITE if full else 0
    selector.modify(stream, selectors.EVENT_READ | write)
    watched = pipe in selector.get_map()
    if full > _MOST_WAITING and watched:
        selector.unregister(pipe)
    elif full <= _MOST_WAITING and not watched:
        selector.register(pipe, selectors.EVENT_READ)


def _take_in(pipe: socket.socket, waiting: bytearray) -> bool:
    """Read what the pipe has; False at its end."""
    if len(waiting) > _MOST_WAITING:
        return True
    try:
        data = pipe.recv(_CHUNK, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return True
    waiting += data
    return bool(data)


def _give_out(stream: ssl.SSLSocket, pipe: socket.socket) -> bool:
    """Pass on all that is decrypted already, or a selector would not wake for it; False at the end."""
    while True:
        try:
            data = stream.recv(_CHUNK)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return True
        if not data:
            return False
        pipe.sendall(data)


def _send(stream: ssl.SSLSocket, waiting: bytearray) -> None:
    with suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
        while waiting:
            del waiting[: stream.send(waiting)]
