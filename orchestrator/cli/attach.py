"""``glovebox attach``: a person's terminal in the box of a running session."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
import typer

from orchestrator.cli.terminal_io import DEFAULT_KEY, DetachKey, show_terminal, tell_end
from orchestrator.config.paths import paths_from
from orchestrator.errors import BoxError
from orchestrator.harness.box_spec import WORKDIR
from orchestrator.harness.control_client import Control, find_running, joined
from orchestrator.harness.control_protocol import VERSION, Hello
from orchestrator.named_file import real_path
from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.schema.ids import SessionId
from orchestrator.schema.stream import TerminalTarget
from orchestrator.terminal.keys import parse_key
from orchestrator.terminal.raw_tty import RawTty


def attach(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="[SESSION]",
            help="Session id or the beginning of one; default: this directory's newest that runs.",
        ),
    ] = None,
    cd: Annotated[
        Path, typer.Option("--cd", "-C", help="Directory the session works on.")
    ] = Path(),
    detach_key: DetachKey = DEFAULT_KEY,
) -> int:
    """Open a terminal of your own in the box of a running session.

    You get a shell beside the agent, with the rights of its commands. What you do there is not
    judged by policy, but recorded as yours. The terminal ends with the session.
    """
    key = parse_key(detach_key)
    paths = paths_from(os.environ, Path.home())
    found, path = find_running(session, real_path(cd), paths, environ=os.environ)
    terminal = RawTty.open()
    try:
        return anyio.run(partial(_attach, found, path, terminal=terminal, key=key))
    finally:
        terminal.close()


async def _attach(session: SessionId, path: Path, *, terminal: RawTty, key: bytes) -> int:
    async with joined(session, path, Hello(version=VERSION, via="attach")) as control:
        sys.stderr.write(f"session {session}: a terminal in its box; {key_words(key)} leaves\n")
        try:
            return await _show(control, terminal, key)
        except BoxError:
            if not control.over.is_set():
                raise
            sys.stderr.write(f"session {session} ended, and the terminal with it\n")
            return 0


async def _show(control: Control, terminal: RawTty, key: bytes) -> int:
    try:
        stream = await control.open_stream(TerminalTarget(terminal.size(), WORKDIR))
    except StreamRefusedError as refused:
        raise BoxError(str(refused)) from refused
    return tell_end(*await show_terminal(stream, terminal, key))


def key_words(key: bytes) -> str:
    """Return a key's name for a person."""
    return f"Ctrl-{chr(key[0] | 0x40)}"
