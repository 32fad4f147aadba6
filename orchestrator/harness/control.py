"""The running session's control socket: a second process of the same user may join it."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio

from orchestrator.errors import BoxError
from orchestrator.harness.control_protocol import control_directory
from orchestrator.harness.control_talk import Talk, caller_of
from orchestrator.harness.person import PersonalAccess
from orchestrator.sandbox.runtime_dir import listen_at, private_directory
from orchestrator.schema.ids import SessionId

MOST_CALLERS = 16
RETRY_S = 0.05


@asynccontextmanager
async def control_socket(
    session: SessionId, access: PersonalAccess, environ: Mapping[str, str]
) -> AsyncIterator[Path]:
    """Listen for callers until the end of the block; gives the socket's path."""
    directory = control_directory(environ)
    private_directory(directory.parent)
    private_directory(directory)
    sweep(directory)
    path = directory / session
    listener = _listen(path)
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_accept, listener, session, access)
            try:
                yield path
            finally:
                group.cancel_scope.cancel()
    finally:
        listener.close()
        with suppress(FileNotFoundError):
            path.unlink()


def sweep(directory: Path) -> None:
    """Remove the sockets of processes that ended without doing so."""
    for path in directory.iterdir():
        if not is_listening(path):
            # Gone already, or no socket: neither is in anybody's way.
            with suppress(OSError):
                path.unlink()


def is_listening(path: Path) -> bool:
    """Say whether somebody answers there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.setblocking(False)
        try:
            sock.connect(str(path))
        except BlockingIOError:
            # Its queue is full, so somebody has one.
            return True
        except OSError:
            return False
    return True


def _listen(path: Path) -> socket.socket:
    """Return a listener that has its name only once it listens, so that no sweep takes it."""
    early = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    listener = None
    try:
        listener = listen_at(early, mode=0o600, backlog=MOST_CALLERS)
        early.rename(path)
    except OSError as err:
        if listener is not None:
            listener.close()
        raise BoxError(
            f"{path}: the session's control socket cannot be made ({err.strerror or err})",
            hint="set XDG_RUNTIME_DIR to a directory of yours that is short and can be written",
        ) from err
    return listener


async def _accept(listener: socket.socket, session: SessionId, access: PersonalAccess) -> None:
    callers = anyio.Semaphore(MOST_CALLERS)

    async def serve(sock: socket.socket) -> None:
        try:
            await Talk(sock, access, session=session).serve()
        finally:
            callers.release()

    async with anyio.create_task_group() as group:
        while True:
            await callers.acquire()
            await anyio.wait_readable(listener)
            try:
                sock, _ = listener.accept()
            except OSError:
                # Gone again, or no descriptor is free: the next one may be luckier.
                callers.release()
                await anyio.sleep(RETRY_S)
                continue
            sock.setblocking(False)
            if caller_of(sock)[1] != os.geteuid():
                sock.close()
                callers.release()
            else:
                group.start_soon(serve, sock)
