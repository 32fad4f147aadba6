"""One stream: bytes between the host and a descriptor, each way as far as there is credit."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from frames import CANCEL, CREDIT, DATA, END, RESIZE, RESULT, U32, WINDOW

if TYPE_CHECKING:
    from collections.abc import Callable

    from frames import Frame
    from link import Link
    from loop import Loop
    from side_loop import SideLoop

READ_SIZE = 65_536


class Stream:
    """What a terminal and a connection have in common; ``on_end`` is called after the RESULT."""

    window = WINDOW
    """Bytes that the host may send ahead."""

    def __init__(
        self, loop: Loop | SideLoop, link: Link, number: int, *, on_end: Callable[[int], None]
    ) -> None:
        self.number = number
        self._waits = loop
        self._link = link
        self._on_end = on_end
        self._fd = -1
        self._credit = 0
        self._pending = bytearray()
        self._taken = 0
        self._reading = False
        self._output_over = False
        self._host_said_last = False
        self._done = False

    def take(self, frame: Frame) -> None:
        """Act on one message of the host."""
        if frame.kind == DATA:
            self._pending += frame.payload
            if len(self._pending) > self.window:
                self.finish({"error": "the host sent more than it was allowed", "code": "invalid"})
            else:
                self._write()
        elif frame.kind == END:
            self._host_said_last = True
            self._write()
        elif frame.kind == CREDIT:
            self.credit(U32.unpack(frame.payload)[0])
        elif frame.kind == RESIZE:
            columns, rows = (U32.unpack_from(frame.payload, at)[0] for at in (0, U32.size))
            self.resize(columns, rows)
        elif frame.kind == CANCEL:
            self.end("cancelled")

    def credit(self, count: int) -> None:
        """Let the host take ``count`` more bytes."""
        self._credit += count
        if self._fd >= 0 and not (self._output_over or self._done):
            self._listen(True)

    def resize(self, columns: int, rows: int) -> None:
        """Only a terminal has a size."""

    def end(self, why: str) -> None:
        """Bring what is at the other end to its end."""
        self.finish({"data": {"reason": why}})

    def begin(self, fd: int) -> None:
        """Tell the host that it is open, and carry bytes from now on."""
        self._fd = fd
        self._link.send(self.number, CREDIT, U32.pack(self.window))
        self._listen(True)

    def finish(self, result: dict[str, Any]) -> None:
        """Send the one RESULT and let go of everything."""
        if self._done:
            return
        self.let_go()
        self._link.send(self.number, RESULT, json.dumps(result).encode())
        self._on_end(self.number)

    def let_go(self) -> None:
        """Carry nothing any more, and close what is open."""
        self._done = True
        if self._fd >= 0:
            self._listen(False)
        if self.sink >= 0:
            self._waits.on_writable(self.sink, None)
        self.release()
        self._fd = -1

    @property
    def sink(self) -> int:
        """Where what the host sends is written to; -1 where nothing takes it any more."""
        return self._fd

    def read(self, size: int) -> bytes:
        """Return what is there, nothing at the end; BlockingIOError when there is nothing yet."""
        return os.read(self._fd, size)

    def release(self) -> None:
        """Close what is open."""
        raise NotImplementedError

    def output_ended(self) -> None:
        """Act on the end of what comes out."""
        raise NotImplementedError

    def input_ended(self) -> None:
        """Act on the host's last word, once all before it was written."""

    def input_refused(self) -> None:
        """Act on being told that nobody takes what the host sends."""

    def _listen(self, listening: bool) -> None:
        if listening != self._reading:
            self._reading = listening
            self._waits.on_readable(self._fd, self._read if listening else None)

    def _read(self) -> None:
        if self._done:
            return
        size = min(READ_SIZE, self._credit)
        if size == 0:
            self._listen(False)
            return
        try:
            data = self.read(size)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if data:
            self._credit -= len(data)
            self._link.send(self.number, DATA, data)
            return
        self._listen(False)
        self._output_over = True
        self.output_ended()

    def _write(self) -> None:
        if self._done:
            return
        while self._pending:
            try:
                count = os.write(self.sink, self._pending[:READ_SIZE])
            except BlockingIOError:
                self._waits.on_writable(self.sink, self._write)
                return
            except OSError:
                # Nobody takes it any more; that the stream is over is told by its other half.
                count = len(self._pending)
                self.input_refused()
                if self._fd < 0:
                    return
            del self._pending[:count]
            self._pay(count)
        if self.sink >= 0:
            self._waits.on_writable(self.sink, None)
        if self._host_said_last:
            self._host_said_last = False
            self.input_ended()

    def _pay(self, count: int) -> None:
        self._taken += count
        if self._taken > self.window // 2:
            self._link.send(self.number, CREDIT, U32.pack(self._taken))
            self._taken = 0
