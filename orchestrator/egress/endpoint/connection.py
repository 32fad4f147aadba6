"""HTTP/1.1 with one client in the box: requests in, answers out, and whether it is still there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import anyio
import h11

from orchestrator.egress.endpoint.refused import RefusedCallError
from orchestrator.egress.seams import ByteStream
from orchestrator.errors import BoxError

MAX_HEAD = 64 * 1024
MAX_BODY = 32 * 1024 * 1024
"""Bytes; the largest that a vendor takes."""
MAX_HELD = 128 * 1024 * 1024
"""Bytes of all bodies together that are in the works."""
HEAD_S = 600.0
"""Seconds that a client may keep a connection without a request."""
BODY_S = 60.0
"""Seconds between two pieces of a body."""
SEND_S = 300.0
"""Seconds for a client to take a piece of an answer: it may stand still for a while."""
_AHEAD = 64 * 1024
"""Bytes of a next request that are taken while the answer is still under way."""


class ClientGoneError(Exception):
    """Raised when the client has gone, or does not take what it asked for."""


@dataclass(frozen=True, slots=True)
class Head:
    """A request's line and headers; names are lower case, values text."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """What follows the question mark."""
        return self.target.partition("?")[2]


class Intake:
    """Bounds what all bodies of one request, or of all together, take of the host's memory."""

    def __init__(self, most: int = MAX_HELD, *, within: Intake | None = None) -> None:
        """Hold at most so many bytes, and no more than ``within`` has room for."""
        self._most = most
        self._within = within
        self._held = 0

    def take(self, size: int) -> None:
        """Count bytes that came; RefusedCallError with 503 where there is no room."""
        if self._held + size > self._most:
            raise RefusedCallError(503, "too many large requests at once", retry_after_s=2)
        if self._within is not None:
            self._within.take(size)
        self._held += size

    def release(self) -> None:
        """Give all of it back."""
        if self._within is not None:
            self._within.give(self._held)
        self._held = 0

    def give(self, size: int) -> None:
        """Give so much back."""
        self._held -= size


class ClientConnection:
    """One connection; requests come one after the other."""

    def __init__(self, stream: ByteStream) -> None:
        """Speak over ``stream``, which stays its owner's to close."""
        self._stream = stream
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        self._ended = False
        self.answered = False
        """Whether the current request's answer has begun."""

    async def next_head(self) -> Head | None:
        """Return the next request; None when the client wants no more. RefusedCallError if broken."""
        if self._http.our_state in {h11.DONE, h11.MUST_CLOSE, h11.CLOSED, h11.ERROR}:
            if not self._can_go_on():
                return None
            self._http.start_next_cycle()
        self.answered = False
        event = await self._event(HEAD_S)
        if not isinstance(event, h11.Request):
            return None
        return Head(
            event.method.decode("ascii"),
            event.target.decode("ascii"),
            tuple((n.decode("ascii"), v.decode("latin-1")) for n, v in event.headers),
        )

    async def body(self, intake: Intake) -> bytes:
        """Return the whole body of the request; ``intake`` must have room for it."""
        if self._http.they_are_waiting_for_100_continue:
            await self._send(
                h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
            )
        pieces, size = [], 0
        while isinstance(event := await self._event(BODY_S), h11.Data):
            size += len(event.data)
            if size > MAX_BODY:
                raise RefusedCallError(413, f"body: expected at most {MAX_BODY} bytes")
            intake.take(len(event.data))
            pieces.append(bytes(event.data))
        return b"".join(pieces)

    async def start(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """Send an answer's status and headers."""
        self.answered = True
        raw = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
        await self._send(h11.Response(status_code=status, headers=raw))

    async def write(self, data: bytes) -> None:
        """Send a piece of the answer's body, as the client takes it."""
        if data:
            await self._send(h11.Data(data=data))

    async def finish(self) -> None:
        """Send the end of the answer."""
        await self._send(h11.EndOfMessage())

    async def answer(self, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> None:
        """Send a whole answer."""
        length = ("content-length", str(len(body)))
        await self.start(status, [*headers, length])
        await self.write(body)
        await self.finish()

    async def gone(self) -> None:
        """Return when the client has gone; what it sends meanwhile waits for its turn."""
        ahead = 0
        while not self._ended:
            if ahead >= _AHEAD:
                await anyio.sleep_forever()
            try:
                data = await self._stream.receive()
            except (OSError, BoxError):
                return
            ahead += len(data)
            self._take(data)

    def _can_go_on(self) -> bool:
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    async def _event(self, seconds: float) -> object:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                if self._ended:
                    raise ClientGoneError
                with anyio.fail_after(seconds):
                    self._take(await self._stream.receive())
        except h11.RemoteProtocolError as error:
            if self._ended:
                raise ClientGoneError from error
            # What follows the colon is the program's bytes in Python's spelling.
            what = str(error).partition(":")[0]
            raise RefusedCallError(error.error_status_hint, f"HTTP: {what}") from error
        except (OSError, BoxError) as error:
            raise ClientGoneError from error
        return event

    def _take(self, data: bytes) -> None:
        self._ended = self._ended or not data
        self._http.receive_data(data)

    async def _send(self, event: h11.Event) -> None:
        try:
            data = self._http.send(event)
            if data:
                with anyio.fail_after(SEND_S):
                    await self._stream.send(data)
        except h11.LocalProtocolError as error:
            raise ClientGoneError from error
        except (OSError, BoxError) as error:
            raise ClientGoneError from error
