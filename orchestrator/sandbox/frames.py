"""The wire between host and box; described in ``sandbox-image/toolserver/frames.py``, its other end.

This end believes nothing: sizes are bounded per frame, per message and in all.
"""

from __future__ import annotations

import struct
from collections import deque
from typing import NamedTuple

from orchestrator.errors import BoxError

HEADER = struct.Struct("!IIB")
MAX_PAYLOAD = 65_536
MAX_MESSAGE = 16 * 1024 * 1024
"""Bytes of the largest message put together from parts."""
MAX_HELD = 4 * MAX_MESSAGE
"""Bytes of unfinished messages together."""
MAX_CALLS = 256
"""Calls at one time."""
MAX_OUT = 512
"""Connections to the outside that programs in one box may have at one time."""

HELLO = 1
READY = 2
TOKEN = 3
PING = 4
PONG = 5
REQUEST = 6
OUTPUT = 7
RESULT = 8
CANCEL = 9
CREDIT = 10
OPEN = 11
DATA = 12
END = 13
RESIZE = 14
EXECS = 15
STOP = 16
MORE = 0x80

BULK = frozenset({DATA, END})
"""Kinds that wait while anything else is to be sent."""
WINDOW = 256 * 1024
"""Bytes that one end may send ahead of the other's reading."""
BOX_NUMBERS = 0x8000_0000
"""Lowest number of a stream that the box opens; the host counts up from 1."""

MOST_BEFORE_BULK = 8
"""Frames of calls that go out in a row while bulk waits."""

U32 = struct.Struct("!I")


class Frame(NamedTuple):
    """One whole message."""

    call: int
    kind: int
    payload: bytes


def encode(call: int, kind: int, payload: bytes) -> list[bytes]:
    """Return the frames of one message."""
    head = payload[:MAX_PAYLOAD]
    if len(head) == len(payload):
        return [HEADER.pack(len(payload), call, kind) + payload]
    frames = []
    for start in range(0, len(payload), MAX_PAYLOAD):
        part = payload[start : start + MAX_PAYLOAD]
        more = MORE if start + MAX_PAYLOAD < len(payload) else 0
        frames.append(HEADER.pack(len(part), call, kind | more) + part)
    return frames


class Decoder:
    """Turns bytes as they arrive into whole messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._parts: dict[int, bytearray] = {}
        self._held = 0

    @property
    def idle(self) -> bool:
        """True between two messages."""
        return not self._buffer and not self._parts

    def feed(self, data: bytes) -> list[Frame]:
        """Return the messages that ``data`` completes."""
        buffer = self._buffer
        buffer += data
        found = []
        start = 0
        while len(buffer) - start >= HEADER.size:
            length, call, kind = HEADER.unpack_from(buffer, start)
            if length > MAX_PAYLOAD:
                raise BoxError(f"box: frame of at most {MAX_PAYLOAD} bytes expected, got {length}")
            end = start + HEADER.size + length
            if len(buffer) < end:
                break
            payload = bytes(buffer[start + HEADER.size : end])
            start = end
            frame = self._whole(call, kind, payload)
            if frame is not None:
                found.append(frame)
        del buffer[:start]
        return found

    def _whole(self, call: int, kind: int, payload: bytes) -> Frame | None:
        if not kind & MORE and call not in self._parts:
            return Frame(call, kind, payload)
        whole = self._parts.setdefault(call, bytearray())
        whole += payload
        self._held += len(payload)
        if len(whole) > MAX_MESSAGE or self._held > MAX_HELD or len(self._parts) > MAX_CALLS:
            raise BoxError(f"box: message of at most {MAX_MESSAGE} bytes expected, got more")
        if kind & MORE:
            return None
        del self._parts[call]
        self._held -= len(whole)
        return Frame(call, kind, bytes(whole))


class Outbox:
    """Frames that wait to be sent: in order within a call, in turn between calls, bulk last."""

    def __init__(self) -> None:
        self._queues: dict[int, deque[bytes]] = {}
        self._turns: deque[int] = deque()
        self._bulk: deque[int] = deque()
        self._in_a_row = 0
        self._current = memoryview(b"")

    @property
    def idle(self) -> bool:
        """True where nothing waits."""
        return not (self._current or self._turns or self._bulk)

    def put(self, call: int, frames: list[bytes], *, bulk: bool = False) -> None:
        """Queue the frames of one message."""
        queue = self._queues.get(call)
        if queue is None:
            self._queues[call] = deque(frames)
            (self._bulk if bulk else self._turns).append(call)
        else:
            queue.extend(frames)

    def next_piece(self) -> memoryview | None:
        """Return what is to be sent now, a frame or the rest of one."""
        if not self._current:
            turns = self._whose_turn()
            if not turns:
                return None
            call = turns.popleft()
            queue = self._queues[call]
            self._current = memoryview(queue.popleft())
            if queue:
                turns.append(call)
            else:
                del self._queues[call]
        return self._current

    def sent(self, count: int) -> None:
        """Take note that ``count`` bytes of the piece went out."""
        self._current = self._current[count:]

    def _whose_turn(self) -> deque[int]:
        """Return the calls' turns, and now and then the bulk's, so that neither starves."""
        if self._turns and not (self._bulk and self._in_a_row >= MOST_BEFORE_BULK):
            self._in_a_row += 1
            return self._turns
        self._in_a_row = 0
        return self._bulk
