"""``glovebox wrap``: an existing agent, or any program, at work in a box."""

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
from orchestrator.cli.run import (
    AddDirs,
    Approve,
    Environment,
    chosen_directory,
    chosen_mode,
    read_environment,
    read_seconds,
)
from orchestrator.cli.run_io import open_io
from orchestrator.cli.terminal_io import DEFAULT_KEY, DetachKey
from orchestrator.cli.wrap_io import TerminalSeat, WrapIo, seat_for
from orchestrator.config.paths import Paths, paths_from
from orchestrator.config.settings import Settings, load_settings
from orchestrator.errors import UsageError
from orchestrator.harness.options import NO_MODEL, LimitOptions, RunOptions
from orchestrator.harness.preview import parse_preview
from orchestrator.harness.winding import RunEnd
from orchestrator.harness.wrap.home import HomeSource
from orchestrator.harness.wrap.run import WrapOrder, run_wrapped
from orchestrator.terminal.keys import parse_key


def wrap(
    command: Annotated[
        list[str],
        typer.Argument(help="The program and its arguments, after --.", metavar="COMMAND"),
    ],
    cd: Annotated[Path, typer.Option("--cd", "-C", help="Directory to work on.")] = Path(),
    policy: Annotated[
        list[str] | None, typer.Option(help="A shipped policy's name or a file; repeatable.")
    ] = None,
    print_only: Annotated[
        bool,
        typer.Option("--print", "-p", help="Only the program's own words and errors: no progress."),
    ] = False,
    json_events: Annotated[
        bool, typer.Option("--json", help="Print events, the program's output among them.")
    ] = False,
    pipes: Annotated[
        bool, typer.Option("--pipes", help="Give it pipes where there is a terminal, too.")
    ] = False,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate/--no-gate", help="Have an agent that is known ask before each of its tools."
        ),
    ] = True,
    approve: Approve = None,
    yolo: Annotated[
        bool,
        typer.Option(help="Answer yes to every ask that a blanket yes may answer; recorded."),
    ] = False,
    max_time: Annotated[str | None, typer.Option(help="Wall time, such as 30m.")] = None,
    resume: Annotated[
        str | None, typer.Option(help="Work on in a session's workspace.", metavar="ID")
    ] = None,
    resume_latest: Annotated[
        bool, typer.Option("--continue", help="Work on in this directory's newest session.")
    ] = False,
    image: Annotated[str | None, typer.Option(help="Image of the box.")] = None,
    workspace: Annotated[
        Literal["overlay", "copy", "bind", "none"] | None,
        typer.Option(help="How the directory enters the box."),
    ] = None,
    env: Environment = None,
    add_dir: AddDirs = None,
    home: Annotated[
        Path | None,
        typer.Option(help="A directory whose files are copied into its home.", metavar="DIR"),
    ] = None,
    git_identity: Annotated[
        Literal["host", "none"],
        typer.Option(help="Commit in the box under your git name and address, or under none."),
    ] = "host",
    preview: Annotated[
        list[int] | None,
        typer.Option(help="Port of the box to reach on 127.0.0.1; repeatable.", metavar="PORT"),
    ] = None,
    apply_changes: Annotated[
        bool, typer.Option("--apply", help="Apply the changes at the end without asking.")
    ] = False,
    detach_key: DetachKey = DEFAULT_KEY,
) -> int:
    """Run a program of yours, an agent say, in a box on a directory.

    It has a terminal where you have one, pipes else; its exit code is the command's. Changes are
    reviewed as after a run. Policy judges its start alone, and records whatever it starts.
    """
    key = parse_key(detach_key)
    paths = paths_from(os.environ, Path.home())
    settings = load_settings(paths.config / "config.yaml", os.environ)
    directories = [chosen_directory(path, flag="--add-dir") for path in add_dir or []]
    own_home = None if home is None else chosen_directory(home, flag="--home")
    if own_home is not None and own_home not in directories:
        directories.append(own_home)
    options = RunOptions(
        prompt=None,
        directory=chosen_directory(cd),
        model=NO_MODEL,
        policies=tuple(policy or settings.policy),
        approve=approve,
        yolo=yolo,
        limits=LimitOptions(wall_time_s=read_seconds(max_time)),
        resume=resume,
        resume_latest=resume_latest,
        image=image or settings.image,
        workspace=chosen_mode(workspace or settings.workspace),
        environment=read_environment(env or []),
        git_identity="none" if git_identity == "none" else "host",
        add_dirs=tuple(directories),
        previews=tuple(parse_preview(port, None) for port in preview or []),
    )
    if not command[0]:
        raise UsageError("wrap: expected a program, got an empty word")
    own = open_io(quiet=print_only, json_events=json_events, bell=settings.approvals.bell)
    io = WrapIo(own)
    source = None if own_home is None else HomeSource.of(options, own_home)
    order = WrapOrder(options, tuple(command), home=source, asks=gate)
    end = _wrapped(order, settings, paths, io, key=key, pipes=pipes)
    if end.commits_waiting:
        io.note(end.commits_waiting)
    if end.workspace_mode == "none" or not end.readable:
        return end.exit_code
    reviewed = review_end(paths, end.session, own, apply_now=apply_changes)
    return end.exit_code or reviewed


def _wrapped(
    order: WrapOrder, settings: Settings, paths: Paths, io: WrapIo, *, key: bytes, pipes: bool
) -> RunEnd:
    seat = seat_for(io, key=key, pipes=pipes)
    try:
        if isinstance(seat, TerminalSeat) and not io.io.quiet:
            sys.stderr.write(f"{key_words(key)} leaves the program and ends it\n")
        return anyio.run(partial(run_wrapped, order, settings, paths, front=io, seat=seat))
    finally:
        if isinstance(seat, TerminalSeat):
            seat.terminal.close()
