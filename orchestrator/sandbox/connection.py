"""The host's hold on one box: the lifeline, the connection for calls, and the greeting on both."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress

import anyio

from orchestrator.engine.attachment import Attachment
from orchestrator.errors import BoxError
from orchestrator.sandbox.calls import Calls
from orchestrator.sandbox.engine_stream import EngineStream
from orchestrator.sandbox.frames import HELLO, PONG, READY, TOKEN, Frame
from orchestrator.sandbox.handoff import Held
from orchestrator.sandbox.heart import Heart, Pulse
from orchestrator.sandbox.hello import VERSION, Ready, parse_ready
from orchestrator.sandbox.link import READ_SIZE, Link
from orchestrator.schema.terminal_text import escape_terminal

READY_S = 40.0
"""From the start of the container to the server's first word, on a busy engine."""
CALL_S = 5.0
"""From the server's word that it called to the arrival of that call."""
LAST_WORDS_S = 0.2
"""How long the reason of an end is awaited when a connection broke: the box's last words on the
lifeline, or that the engine is gone, which may close its connections before its door."""


_ENGINE_GONE = BoxError(
    "box: the container engine went away, and the box with it",
    hint="start the engine again, then go on with `glovebox run --continue`; changes are kept",
)

_FELL_SILENT = "the host fell silent"
"""The server's own words."""
_STOOD_STILL = (
    "this process, or the engine, stood still for more than 4 s, and a box that nobody watches "
    "ends itself; go on with `glovebox run --continue`; changes are kept"
)


class Connection:
    """Everything that is open towards one box; ``close`` ends the box as well."""

    def __init__(
        self,
        attachment: Attachment,
        heart: Heart,
        *,
        gone: Callable[[], bool] = lambda: False,
        latest: int = 0,
    ) -> None:
        """Take an attachment over, made before the container starts.

        ``gone`` says whether the engine itself is, when the connection to the box is lost.
        """
        self._gone = gone
        self._attachment = attachment
        self._heart = heart
        self._stream = EngineStream()
        self._lifeline = Link(attachment.socket, unwrap=self._stream)
        self._call_link: Link | None = None
        self._call_socket: socket.socket | None = None
        self._loop = asyncio.get_running_loop()
        self._pulse: Pulse | None = None
        self._ready: Ready | None = None
        self._changed = anyio.Event()
        self._beat = anyio.Event()
        self._closed = False
        self._ended = False
        self.calls = Calls(latest)
        self.calls.on_breach = self._on_end
        self.token = secrets.token_hex(32)

    @classmethod
    def take_over(cls, held: Held, heart: Heart, *, gone: Callable[[], bool]) -> Connection:
        """Go on with a box that was greeted elsewhere; ``hand_over`` is the other end of this."""
        lifeline = Attachment(held.lifeline, held.lifeline)
        connection = cls(lifeline, heart, gone=gone, latest=held.latest)
        connection._ready = Ready(version=VERSION, transport="socket", problem=None)
        connection._listen_for_calls(held.calls)
        connection._lifeline.open(connection._take, connection._on_end)
        connection._pulse = heart.add(connection._lifeline, connection._on_silence)
        # At once: the box has heard nothing since the other one let go.
        connection._lifeline.ping()
        return connection

    def hand_over(self) -> Held | None:
        """Let go of the box without ending it; None, and it ends, where that cannot be."""
        link, sock = self._call_link, self._call_socket
        if self._closed or link is None or sock is None or not self._attachment.direct:
            self.close()
            return None
        if self._pulse is not None:
            self._heart.remove(self._pulse)
        link.close()
        self._lifeline.close()
        # Only now does nobody send any more, the heart's thread included.
        if not (self.calls.idle and link.idle and self._lifeline.idle):
            self.close()
            return None
        self._closed = True
        self._call_socket = None
        self.calls.fail(BoxError("box: it was handed over"))
        return Held(self._attachment.detach(), sock, self.calls.latest)

    async def answered(self, seconds: float) -> bool:
        """Return True when the box answers a heartbeat, False when it does not within the time."""
        with anyio.move_on_after(seconds):
            await self._beat.wait()
        return not self._closed and self._beat.is_set()

    async def greet(self, hello: bytes, listener: socket.socket | None) -> Ready:
        """Introduce the host and return when requests can go out."""
        self._lifeline.open(self._take, self._on_end)
        self._lifeline.send(0, HELLO, hello)
        self._pulse = self._heart.add(self._lifeline, self._on_silence)
        with anyio.move_on_after(READY_S):
            await self._changed.wait()
        if self.calls.failure is not None:
            raise self.calls.failure
        if self._ready is None:
            raise BoxError(f"box: its tool server said nothing for {READY_S:.0f} s")
        if self._ready.transport == "stdio":
            self.calls.send_over(self._lifeline)
        elif listener is None:
            raise BoxError("box: its tool server called a socket that does not exist")
        else:
            await self._accept(listener)
        return self._ready

    async def end(self, seconds: float) -> bool:
        """End the box; True where its server has shown that nothing runs in it any more.

        The server keeps its socket until the last of the box's processes is gone. It ends at the
        word over this socket as well as by its lifeline, so an engine that has gone is not needed.
        """
        sock = self._call_socket
        if sock is not None:
            self._close_call_link()
            with suppress(OSError):
                sock.shutdown(socket.SHUT_WR)
            with anyio.move_on_after(seconds, shield=True), suppress(OSError):
                self._ended = await _until_end(sock)
        self.close()
        return self._ended

    def give_up(self) -> None:
        """Fail whoever waits for the box, as it will not come up."""
        self._fail(BoxError("box: the engine did not start it"))

    def close(self) -> None:
        """Let go of the box, which ends by it; calls that are open fail."""
        self._close_lifeline(BoxError("box: it was stopped"))
        self._close_call_link()
        if self._call_socket is not None:
            self._call_socket.close()
            self._call_socket = None

    def _close_lifeline(self, failure: BoxError) -> None:
        if self._closed:
            return
        self._closed = True
        self.calls.fail(failure)
        if self._pulse is not None:
            self._heart.remove(self._pulse)
        self._lifeline.close()
        self._attachment.close()
        self._changed.set()
        self._beat.set()

    def _close_call_link(self) -> None:
        if self._call_link is not None:
            self._call_link.close()

    def _take(self, frame: Frame) -> None:
        if frame.call != 0:
            if self._ready is None or self._ready.transport != "stdio":
                raise BoxError("box: answered a call on its lifeline")
            self.calls.take(frame)
        elif frame.kind == PONG and self._pulse is not None:
            self._pulse.answered()
            self._beat.set()
        elif frame.kind == READY and self._ready is None:
            self._ready = parse_ready(frame.payload)
            self._changed.set()
        else:
            raise BoxError(f"box: frame of kind {frame.kind} on its lifeline")

    def _listen_for_calls(self, sock: socket.socket, link: Link | None = None) -> None:
        self._call_socket = sock
        self._call_link = link or Link(sock)
        self._call_link.open(self.calls.take, self._on_end)
        self.calls.send_over(self._call_link)

    async def _accept(self, listener: socket.socket) -> None:
        """Take the connection that knows the token; who does not know it is turned away."""
        with anyio.move_on_after(CALL_S):
            while True:
                await anyio.wait_readable(listener)
                sock, _ = listener.accept()
                sock.setblocking(False)
                link = Link(sock)
                if await self._knows_token(link):
                    self._listen_for_calls(sock, link)
                    return
                link.close()
                sock.close()
        raise BoxError("box: its tool server did not call although it said so")

    async def _knows_token(self, link: Link) -> bool:
        settled = anyio.Event()
        words: list[bytes] = []

        def heard(frame: Frame) -> None:
            if frame.kind == TOKEN and not words:
                words.append(frame.payload)
            settled.set()

        link.open(heard, lambda _error: settled.set())
        await settled.wait()
        return bool(words) and hmac.compare_digest(words[0], self.token.encode())

    def _on_silence(self) -> None:
        failure = BoxError("box: its tool server fell silent")
        # A loop that is closed has nobody left who waits; the heart beats on for the others.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._fail, failure)

    def _on_end(self, error: BoxError) -> None:
        self._loop.call_later(LAST_WORDS_S, self._fail, error)

    def _fail(self, error: BoxError) -> None:
        if self._closed:
            return
        words = escape_terminal(self._stream.last_words())
        failure = BoxError(
            f"{error.message}: {words}" if words else error.message,
            hint=_STOOD_STILL if _FELL_SILENT in words else error.hint,
        )
        # The other socket stays: by it the box can still be ended, and seen to be.
        self._close_lifeline(_ENGINE_GONE if self._gone() else failure)
        self._close_call_link()


async def _until_end(sock: socket.socket) -> bool:
    """Read away what the other end sent before it closed."""
    while True:
        await anyio.wait_readable(sock)
        try:
            if not sock.recv(READ_SIZE):
                return True
        except BlockingIOError:
            continue
        except ConnectionResetError:
            # It closed with something of ours unread.
            return True
