"""One connection to the box: frames in, frames out, never blocking, read by the event loop itself.

The loop calls ``_read`` directly instead of waking a task: that is a tenth of a short call's time,
and a box then lives from ``start`` to ``stop`` without a task group around it.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from orchestrator.errors import BoxError
from orchestrator.sandbox.frames import BULK, PING, Decoder, Frame, Outbox, encode

READ_SIZE = 96 * 1024
"""Bytes: a frame and more. The C library maps memory anew for each buffer of 128 KiB and up, which
takes longer than to read a short message."""

OnFrame = Callable[[Frame], None]
OnEnd = Callable[[BoxError], None]


class Unwrap(Protocol):
    """Takes the box's own bytes out of what an engine wraps around them."""

    @property
    def idle(self) -> bool:
        """True where no piece is half taken."""
        ...

    def feed(self, data: bytes) -> bytes:
        """Return the payload in ``data``, which may end anywhere."""
        ...


class Link:
    """A non-blocking socket that speaks the wire; ``on_end`` is called once, unless closed first.

    Use it on the event loop's thread; ``ping`` alone is for others.
    """

    def __init__(self, sock: socket.socket, *, unwrap: Unwrap | None = None) -> None:
        """Take the socket over; whoever made it closes it after ``close``."""
        self._socket = sock
        self._unwrap = unwrap
        self._decoder = Decoder()
        self._outbox = Outbox()
        self._lock = threading.Lock()
        self._loop = asyncio.get_running_loop()
        self._waiting = False
        self._closed = False
        self._on_frame: OnFrame = _nobody
        self._on_end: OnEnd = _nobody

    def open(self, on_frame: OnFrame, on_end: OnEnd) -> None:
        """Begin to listen."""
        self._on_frame = on_frame
        self._on_end = on_end
        self._loop.add_reader(self._socket, self._read)

    def send(self, call: int, kind: int, payload: bytes = b"") -> None:
        """Queue one message and send what the box takes now."""
        if self._closed:
            return
        with self._lock:
            self._outbox.put(call, encode(call, kind, payload), bulk=kind in BULK)
        if not self._waiting:
            self._write()

    def pass_descriptor(self, call: int, kind: int, payload: bytes, *, descriptor: int) -> bool:
        """Send one short message with a descriptor beside it; False where others are to go first."""
        [frame] = encode(call, kind, payload)
        with self._lock, suppress(BlockingIOError):
            if self._closed or not self._outbox.idle:
                return False
            sent = socket.send_fds(self._socket, [frame], [descriptor])
            if sent < len(frame):
                self._outbox.put(call, [frame[sent:]])
            return True
        return False

    def ping(self) -> None:
        """Send a heartbeat, from any thread; a message that waits is as good as one."""
        with self._lock:
            if self._closed:
                return
            if self._outbox.next_piece() is None:
                self._outbox.put(0, encode(0, PING, b""))
            # What does not go now goes with the next message or heartbeat.
            with suppress(OSError):
                self._flush()

    @property
    def idle(self) -> bool:
        """True where no message is half read or half sent, so that another may go on here."""
        with self._lock:
            whole = self._unwrap is None or self._unwrap.idle
            return whole and self._decoder.idle and self._outbox.idle

    def close(self) -> None:
        """Stop listening; nothing is called after this."""
        if self._closed:
            return
        with self._lock:
            self._closed = True
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)

    def _read(self) -> None:
        try:
            data = self._socket.recv(READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as err:
            self._end(BoxError(f"box: connection lost ({err.strerror or err})"))
            return
        if not data:
            self._end(BoxError("box: it ended"))
            return
        try:
            frames = self._decoder.feed(self._unwrap.feed(data) if self._unwrap else data)
            for frame in frames:
                self._on_frame(frame)
        except BoxError as err:
            self._end(err)

    def _write(self) -> None:
        try:
            with self._lock:
                done = self._flush()
        except OSError as err:
            self._end(BoxError(f"box: connection lost ({err.strerror or err})"))
            return
        if done == self._waiting:
            self._waiting = not done
            if done:
                self._loop.remove_writer(self._socket)
            else:
                self._loop.add_writer(self._socket, self._write)

    def _flush(self) -> bool:
        """Send until nothing is left, or nothing more is taken now."""
        piece = self._outbox.next_piece()
        while piece is not None:
            try:
                self._outbox.sent(self._socket.send(piece))
            except (BlockingIOError, InterruptedError):
                return False
            piece = self._outbox.next_piece()
        return True

    def _end(self, error: BoxError) -> None:
        if not self._closed:
            self.close()
            self._on_end(error)


def _nobody(_what: object) -> None:
    raise RuntimeError("a link was used before it was opened")
