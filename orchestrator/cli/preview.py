"""``glovebox preview``: a server in the box of a running session, on the host's loopback."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
import typer

from orchestrator.config.paths import paths_from
from orchestrator.harness.control_client import find_running, joined
from orchestrator.harness.control_protocol import VERSION, Hello, Preview
from orchestrator.harness.preview import (
    UNTRUSTED,
    PreviewSpec,
    address_of,
    forward,
    listening,
    parse_preview,
)
from orchestrator.sandbox.driver import BoxStream
from orchestrator.schema.ids import SessionId
from orchestrator.schema.stream import TcpTarget
from orchestrator.schema.terminal_text import escape_terminal


def preview(
    session: Annotated[str, typer.Argument(help="Session id or the beginning of one.")],
    port: Annotated[int, typer.Argument(help="Port in the box.")],
    listen: Annotated[
        str | None,
        typer.Option(
            help="Address and port on this machine's loopback; default: 127.0.0.1 and the same.",
            metavar="ADDRESS:PORT",
        ),
    ] = None,
) -> None:
    """Reach a server in the box of a running session from this machine, until Ctrl-C.

    The URL goes to stdout. What it shows comes from the box: do not trust it.
    """
    spec = parse_preview(port, listen)
    paths = paths_from(os.environ, Path.home())
    found, path = find_running(session, Path.cwd(), paths, environ=os.environ)
    anyio.run(partial(_preview, found, path, spec=spec))


async def _preview(session: SessionId, path: Path, *, spec: PreviewSpec) -> None:
    async with listening(spec) as listener:
        address = address_of(listener)
        wanted = Preview(port=spec.port, listen=address)
        hello = Hello(version=VERSION, via="preview", preview=wanted)
        async with joined(session, path, hello) as control:

            async def open_port(port: int) -> BoxStream:
                return await control.open_stream(TcpTarget(port))

            sys.stdout.write(f"http://{address}/\n")
            sys.stdout.flush()
            sys.stderr.write(UNTRUSTED + "\n")
            async with anyio.create_task_group() as group:
                group.start_soon(_until_stopped, group.cancel_scope)
                group.start_soon(partial(forward, listener, spec.port, open_port, tell=_tell))
                await control.over.wait()
                sys.stderr.write(f"session {session} ended, and the preview with it\n")
                group.cancel_scope.cancel()


async def _until_stopped(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            scope.cancel()


def _tell(reason: str) -> None:
    sys.stderr.write(escape_terminal(f"preview: {reason}") + "\n")
    sys.stderr.flush()
