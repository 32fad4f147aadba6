"""Showing a terminal of a box on the terminal that this process runs on."""

from __future__ import annotations

import sys
from typing import Annotated

import anyio
import typer

from orchestrator.sandbox.driver import BoxStream
from orchestrator.schema.stream import StreamEnd
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.terminal.keys import DETACH
from orchestrator.terminal.raw_tty import RawTty
from orchestrator.terminal.viewer import Left, Viewer

DetachKey = Annotated[
    str, typer.Option(help="The key that leaves, such as ctrl-] or ctrl-q.", metavar="KEY")
]
DEFAULT_KEY = DETACH
TERMINATED = 143


async def show_terminal(stream: BoxStream, terminal: RawTty, key: bytes) -> tuple[Left, StreamEnd]:
    """Show a stream until it ends or the person leaves; it is closed by then."""
    try:
        left = await Viewer(stream, terminal, detach=key).show()
    finally:
        with anyio.CancelScope(shield=True):
            end = await stream.close()
    return left, end


def tell_end(left: Left, end: StreamEnd) -> int:
    """Say how it ended; return the exit code of this command."""
    if left == "signal":
        return TERMINATED
    if left == "gone":
        return 1
    words = "you left the terminal; what ran on it was ended" if left == "detached" else ""
    if left == "ended" and end.exit_code:
        words = f"the terminal ended with exit code {end.exit_code}"
    elif left == "ended" and end.exit_code is None:
        words = f"the terminal was ended: {end.reason or f'signal {end.signal}'}"
    if words:
        sys.stderr.write(escape_terminal(words) + "\n")
    return 0
