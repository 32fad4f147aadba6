"""The wire between host and box; ``orchestrator/sandbox/frames.py`` is its other end.

A frame is a 9-byte header (payload length u32, call u32, kind u8, all big-endian) and at most
65,536 bytes of payload. A kind with the ``MORE`` bit set is one part of a message whose last part
has the bit clear. Call 0 is the connection itself. On stdio (the lifeline): the host sends HELLO
once and PING each second, the server answers READY once and PONG. Calls go over the Unix socket
when one is mounted and over stdio otherwise:

- host: REQUEST (see ``messages``), then CREDIT (u32: bytes of OUTPUT it will take) as it reads,
  CANCEL at most once. Server: OUTPUT (bytes) within the credit, then exactly one RESULT (see
  ``messages``).
- the server at any time, with the number of the call that started the command: EXECS (JSON
  ``{"execs": […], "unlisted": n, "overflow": bool, "last": bool}``), the programs that it started; the host
  may say STOP to have everything ended that the call started, what outlived it too.
- the socket's first frame is TOKEN, the secret that came in over stdio.

A stream carries bytes both ways under a number like a call's; the host counts from 1, the box from
``BOX_NUMBERS``, so that either may open one. The host opens what leads into the box, to a terminal
or a port; the box what leads out of it, once the host asked for that (``let_out``).

- whoever opens it: OPEN (JSON ``{"to": …, "credit": n}``, or ``from`` in place of ``to``), at last
  CANCEL to have it ended.
- the other end: CREDIT once it is open, and exactly one RESULT (JSON), after which the number is
  done; what is still on its way to it is dropped. A RESULT without CREDIT is a refusal.
- both: DATA within the other's credit, CREDIT as they read, END once: no more DATA from here.
- the host, to a terminal: RESIZE (u32 columns, u32 rows).

What the box opens has in ``from`` the ``door`` that a program came by, the ``host`` and ``port`` that
it asked for where it knows no proxy, and the ``caller``; or a ``name`` that a program looks up, which
is answered by its RESULT alone (``{"known": bool}``). Locally these have a connection of their own:
after ``expect_link`` the host passes one end of a pair of sockets beside the bytes of ``take_link``.

Each connection sends the frames of different calls in turn and those of BULK kinds after them, so
that no bulk delays a call.
"""

from __future__ import annotations

import struct
from collections import deque
from typing import NamedTuple

HEADER = struct.Struct("!IIB")
MAX_PAYLOAD = 65_536
MAX_MESSAGE = 16 * 1024 * 1024
"""Largest message put together from parts."""

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


class ProtocolError(Exception):
    """Raised for bytes that are no frame of this wire."""


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

    def feed(self, data: bytes) -> list[Frame]:
        """Return the messages that ``data`` completes."""
        buffer = self._buffer
        buffer += data
        found = []
        start = 0
        while len(buffer) - start >= HEADER.size:
            length, call, kind = HEADER.unpack_from(buffer, start)
            if length > MAX_PAYLOAD:
                raise ProtocolError(f"frame of {length} bytes")
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
        if len(whole) > MAX_MESSAGE:
            raise ProtocolError(f"message of more than {MAX_MESSAGE} bytes")
        if kind & MORE:
            return None
        del self._parts[call]
        return Frame(call, kind, bytes(whole))


class Outbox:
    """Frames that wait to be sent: in order within a call, in turn between calls, bulk last."""

    def __init__(self) -> None:
        self._queues: dict[int, deque[bytes]] = {}
        self._turns: deque[int] = deque()
        self._bulk: deque[int] = deque()
        self._in_a_row = 0
        self._current = memoryview(b"")

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
