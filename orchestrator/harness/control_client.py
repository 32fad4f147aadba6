"""The other end of a session's control socket: what a second process asks of it."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from orchestrator.config.paths import Paths
from orchestrator.errors import BoxError, SessionError
from orchestrator.harness.control import is_listening
from orchestrator.harness.control_protocol import (
    ANSWER_S,
    VERSION,
    Hello,
    ProcessRow,
    Ready,
    control_paths,
    parse,
)
from orchestrator.harness.control_talk import caller_of
from orchestrator.sandbox.calls import Calls
from orchestrator.sandbox.driver import BoxStream
from orchestrator.sandbox.frames import HELLO, READY, Frame
from orchestrator.sandbox.link import Link
from orchestrator.schema.ids import SessionId
from orchestrator.schema.stream import StreamTarget
from orchestrator.sessions.finding import find_session, list_sessions


def find_running(
    session: str | None, directory: Path, paths: Paths, *, environ: Mapping[str, str]
) -> tuple[SessionId, Path]:
    """Return a running session and its socket: the named one, or the directory's newest."""
    if session is not None:
        wanted = [find_session(paths.sessions, session).header.id]
    else:
        wanted = [item.header.id for item in list_sessions(paths.project_sessions(directory))]
    for one in wanted:
        for path in control_paths(one, environ):
            if path.exists() and is_listening(path):
                return one, path
    which = f"session {wanted[0]}" if session is not None else f"{directory}"
    raise SessionError(
        f"{which}: expected a running session, found none",
        hint="glovebox ps lists running boxes; glovebox shell opens a box for you alone",
    )


class Control:
    """An open conversation with a session."""

    def __init__(self, link: Link, session: SessionId) -> None:
        """Speak over a link that is not open yet."""
        self._link = link
        self._session = session
        self._calls = Calls()
        self._calls.send_over(link)
        self._ready: Ready | None = None
        self._changed = anyio.Event()
        self.over = anyio.Event()

    async def greet(self, hello: Hello) -> None:
        """Say what this process came for; SessionError where the session says no."""
        self._link.open(self._take, self._fail)
        self._link.send(0, HELLO, hello.model_dump_json().encode())
        with anyio.move_on_after(ANSWER_S):
            await self._changed.wait()
        if self._ready is None:
            raise SessionError(f"session {self._session}: it did not answer on its control socket")
        if self._ready.error is not None:
            raise SessionError(f"session {self._session}: {self._ready.error}")
        if self._ready.version != VERSION:
            raise SessionError(
                f"session {self._session}: it speaks version {self._ready.version} of the control "
                f"socket, this program {VERSION}",
                hint="use the program that the session was started with",
            )

    @property
    def processes(self) -> list[ProcessRow]:
        """What the agent keeps running, where this process came for that."""
        return self._ready.processes or [] if self._ready is not None else []

    async def open_stream(self, target: StreamTarget) -> BoxStream:
        """Return a stream into the session's box; StreamRefusedError where there is none."""
        stream = self._calls.open_stream(target)
        await stream.opened()
        return stream

    def _take(self, frame: Frame) -> None:
        if frame.call != 0:
            self._calls.take(frame)
        elif frame.kind == READY and self._ready is None:
            self._ready = parse(Ready, frame.payload)
            self._changed.set()
        else:
            raise BoxError(f"control socket: frame of kind {frame.kind}")

    def _fail(self, _error: BoxError) -> None:
        self._calls.fail(BoxError(f"session {self._session}: it ended"))
        self._changed.set()
        self.over.set()


@asynccontextmanager
async def joined(session: SessionId, path: Path, hello: Hello) -> AsyncIterator[Control]:
    """Join a running session for one purpose, until the end of the block."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            sock.connect(str(path))
        except OSError as err:
            raise SessionError(f"session {session}: it is not running any more") from err
        if caller_of(sock)[1] != os.geteuid():
            # Whoever made the place first would get what is typed.
            raise SessionError(
                f"session {session}: {path} is another user's",
                hint="set XDG_RUNTIME_DIR as the session has it",
            )
        sock.setblocking(False)
        link = Link(sock)
        try:
            control = Control(link, session)
            await control.greet(hello)
            yield control
        finally:
            link.close()
    finally:
        sock.close()
