"""``glovebox shell``: a box for a person, without a model."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import anyio
import typer

from orchestrator.cli.attach import key_words
from orchestrator.cli.review import review_end
from orchestrator.cli.run_io import RunIo, open_io
from orchestrator.cli.terminal_io import DEFAULT_KEY, DetachKey, show_terminal, tell_end
from orchestrator.config.paths import Paths, paths_from
from orchestrator.config.settings import Settings, load_settings
from orchestrator.errors import BoxError, EngineError, UsageError
from orchestrator.harness.options import NO_MODEL, RunOptions
from orchestrator.harness.person import Person
from orchestrator.harness.shell import Shell, open_shell
from orchestrator.named_file import real_path
from orchestrator.sandbox.driver import StreamRefusedError
from orchestrator.schema.ids import SessionId
from orchestrator.terminal.keys import parse_key
from orchestrator.terminal.raw_tty import RawTty


def shell(
    cd: Annotated[Path, typer.Option("--cd", "-C", help="Directory to work on.")] = Path(),
    policy: Annotated[
        list[str] | None, typer.Option(help="A shipped policy's name or a file; repeatable.")
    ] = None,
    workspace: Annotated[
        Literal["overlay", "copy", "bind", "none"] | None,
        typer.Option(help="How the directory enters the box."),
    ] = None,
    image: Annotated[str | None, typer.Option(help="Image of the box.")] = None,
    apply_changes: Annotated[
        bool, typer.Option("--apply", help="Apply the changes at the end without asking.")
    ] = False,
    detach_key: DetachKey = DEFAULT_KEY,
) -> int:
    """Open a box on a directory and give you a terminal in it, without a model.

    At its end the changes are shown and wait for `glovebox apply`, as after a run. The terminal
    is recorded; policy limits the box, but does not judge what you type.
    """
    key = parse_key(detach_key)
    directory = real_path(cd)
    if not directory.is_dir():
        raise UsageError(f"--cd {cd}: expected a directory, found none")
    paths = paths_from(os.environ, Path.home())
    settings = load_settings(paths.config / "config.yaml", os.environ)
    options = RunOptions(
        prompt=None,
        directory=directory,
        model=NO_MODEL,
        policies=tuple(policy or settings.policy),
        image=image or settings.image,
        workspace=workspace or settings.workspace,
    )
    io = open_io(quiet=False, json_events=False)
    terminal = RawTty.open()
    try:
        session, code, readable = anyio.run(
            partial(_visit, options, paths, io, settings=settings, terminal=terminal, key=key)
        )
    finally:
        terminal.close()
    if not readable:
        # Told already, with what to do.
        return code or EngineError.exit_code
    reviewed = review_end(paths, session, io, apply_now=apply_changes)
    return code or reviewed


async def _visit(
    options: RunOptions,
    paths: Paths,
    io: RunIo,
    *,
    settings: Settings,
    terminal: RawTty,
    key: bytes,
) -> tuple[SessionId, int, bool]:
    async with open_shell(options, paths, front=io, settings=settings) as opened:
        controls = sum(opened.room.posture.controls.values())
        sys.stderr.write(
            f"session {opened.id}: box up, {controls} controls proved; exit or "
            f"{key_words(key)} ends it\n"
        )
        try:
            code = await _show(opened, terminal, key)
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await opened.settle(exit_code=getattr(error, "exit_code", 1), status="failed")
            raise
        with anyio.CancelScope(shield=True):
            readable = await opened.settle(exit_code=code) is not None
        return opened.id, code, readable


async def _show(opened: Shell, terminal: RawTty, key: bytes) -> int:
    try:
        stream = await opened.access.open_terminal(terminal.size(), Person.here("shell"))
    except StreamRefusedError as refused:
        raise BoxError(str(refused)) from refused
    return tell_end(*await show_terminal(stream, terminal, key))
