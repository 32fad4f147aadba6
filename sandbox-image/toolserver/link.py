"""One connection to the host: frames in, frames out, never blocking."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from frames import BULK, Decoder, Outbox, ProtocolError, encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from frames import Frame
    from loop import Loop
    from side_loop import SideLoop

    Receive = Callable[[int, int], bytes]

READ_SIZE = 96 * 1024
"""Bytes: a frame and more. The C library maps memory anew for each buffer of 128 KiB and up, which
takes longer than to read a short message."""


class Link:
    """A pair of descriptors, or one twice, that speaks the wire; ``on_close`` is called once."""

    def __init__(self, loop: Loop | SideLoop, read_fd: int, write_fd: int) -> None:
        self._loop = loop
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._decoder = Decoder()
        self._outbox = Outbox()
        self._receive: Receive = os.read
        self._waiting = False
        self._closed = False
        self._on_frame: Callable[[Frame], None] = _unexpected
        self._on_close: Callable[[str], None] = _unexpected
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)

    def open(self, on_frame: Callable[[Frame], None], on_close: Callable[[str], None]) -> None:
        """Begin to listen."""
        self._on_frame = on_frame
        self._on_close = on_close
        self._loop.on_readable(self._read_fd, self._read)

    @property
    def is_socket(self) -> bool:
        """True where descriptors can be passed."""
        return stat.S_ISSOCK(os.fstat(self._read_fd).st_mode)

    def receive_by(self, receive: Receive | None) -> None:
        """Read by this from now on; None is as usual."""
        self._receive = receive or os.read

    def close(self) -> None:
        """Close a connection that is for nothing else, without a word."""
        if not self._closed:
            self._forget()
        if self._read_fd >= 0:
            os.close(self._read_fd)
            self._read_fd = self._write_fd = -1

    def send(self, call: int, kind: int, payload: bytes = b"") -> None:
        """Queue one message and send what the host takes now."""
        if self._closed:
            return
        self._outbox.put(call, encode(call, kind, payload), bulk=kind in BULK)
        if not self._waiting:
            self._write()

    def _read(self) -> None:
        try:
            data = self._receive(self._read_fd, READ_SIZE)
        except BlockingIOError:
            return
        except OSError as err:
            self._close(f"read: {err.strerror}")
            return
        if not data:
            self._close("the host closed it")
            return
        try:
            frames = self._decoder.feed(data)
        except ProtocolError as err:
            self._close(str(err))
            return
        for frame in frames:
            self._on_frame(frame)

    def _write(self) -> None:
        piece = self._outbox.next_piece()
        while piece is not None:
            try:
                self._outbox.sent(os.write(self._write_fd, piece))
            except BlockingIOError:
                self._wait_to_write(True)
                return
            except OSError as err:
                self._close(f"write: {err.strerror}")
                return
            piece = self._outbox.next_piece()
        self._wait_to_write(False)

    def _wait_to_write(self, waiting: bool) -> None:
        if waiting != self._waiting:
            self._waiting = waiting
            self._loop.on_writable(self._write_fd, self._write if waiting else None)

    def _close(self, reason: str) -> None:
        if self._closed:
            return
        self._forget()
        self._on_close(reason)

    def _forget(self) -> None:
        self._closed = True
        self._loop.on_readable(self._read_fd, None)
        self._wait_to_write(False)


def _unexpected(_anything: object) -> None:
    raise RuntimeError("a link was used before it was opened")
