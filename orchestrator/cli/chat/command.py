"""``glovebox chat``: flags in, one ``anyio.run``, an exit code out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import anyio
import typer

from orchestrator.cli.chat.calling import template_helps
from orchestrator.cli.chat.commands import COMMANDS, run_command
from orchestrator.cli.chat.plain import standard_surface
from orchestrator.cli.chat.surface import Surface
from orchestrator.cli.chat.talk import Chat
from orchestrator.cli.chat.terminal import (
    Fittings,
    TerminalSurface,
    terminal_fits,
    wants_colour,
)
from orchestrator.cli.run import (
    AddDirs,
    Approve,
    Environment,
    Fork,
    Skill,
    Thinking,
    Tools,
    chosen_directory,
    chosen_mode,
    read_environment,
    read_fork,
    read_seconds,
    read_thinking,
    read_tools,
    with_model,
)
from orchestrator.cli.run_io import STDIN, open_io, open_tty
from orchestrator.config.paths import Paths, paths_from
from orchestrator.config.settings import Settings, load_settings
from orchestrator.confirmation.channels import Channel
from orchestrator.confirmation.who import terminal_name
from orchestrator.harness.options import LimitOptions, RunOptions
from orchestrator.harness.preview import parse_preview


def chat(
    prompt: Annotated[str | None, typer.Argument(help="What to say first.")] = None,
    cd: Annotated[Path, typer.Option("--cd", "-C", help="Directory to work on.")] = Path(),
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="provider/name, local, or scripted:FILE.")
    ] = None,
    thinking: Thinking = None,
    skill: Skill = None,
    policy: Annotated[
        list[str] | None, typer.Option(help="A shipped policy's name or a file; repeatable.")
    ] = None,
    json_events: Annotated[
        bool, typer.Option("--json", help="Lines in from stdin, events out, one JSON object each.")
    ] = False,
    approve: Approve = None,
    yolo: Annotated[
        bool, typer.Option(help="Answer yes to every ask that a blanket yes may answer; recorded.")
    ] = False,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens of this chat.")] = None,
    max_budget_usd: Annotated[float | None, typer.Option(min=0, help="US$ of this chat.")] = None,
    max_time: Annotated[
        str | None, typer.Option(help="Wall time for each thing you say, such as 30m.")
    ] = None,
    resume: Annotated[str | None, typer.Option(help="Go on with a session.", metavar="ID")] = None,
    resume_latest: Annotated[
        bool, typer.Option("--continue", help="Go on with this directory's newest session.")
    ] = False,
    fork: Fork = False,
    image: Annotated[str | None, typer.Option(help="Image of the box.")] = None,
    workspace: Annotated[
        Literal["overlay", "copy", "bind", "none"] | None,
        typer.Option(help="How the directory enters the box."),
    ] = None,
    env: Environment = None,
    add_dir: AddDirs = None,
    git_identity: Annotated[
        Literal["host", "none"],
        typer.Option(help="Commit in the box under your git name and address, or under none."),
    ] = "host",
    tools: Tools = None,
    preview: Annotated[
        list[int] | None,
        typer.Option(help="Port of the box to reach on 127.0.0.1; repeatable.", metavar="PORT"),
    ] = None,
) -> int:
    """Talk with an agent that works on a directory, in a box.

    Where stdin or stdout is no terminal, each line of stdin is one thing said.
    """
    paths = paths_from(os.environ, Path.home())
    settings = load_settings(paths.config / "config.yaml", os.environ)
    options = RunOptions(
        prompt=prompt,
        directory=chosen_directory(cd),
        model=model or "",
        small_model=settings.small_model,
        fallback=settings.fallback,
        thinking=read_thinking(thinking),
        skill=skill,
        policies=tuple(policy or settings.policy),
        approve=approve,
        yolo=yolo,
        limits=LimitOptions(
            tokens=max_tokens, cost_usd=max_budget_usd, wall_time_s=read_seconds(max_time)
        ),
        resume=resume,
        resume_latest=resume_latest,
        fork=read_fork(fork, resuming=bool(resume or resume_latest)),
        image=image or settings.image,
        workspace=chosen_mode(workspace or settings.workspace),
        environment=read_environment(env or []),
        git_identity=git_identity,
        add_dirs=tuple(chosen_directory(path, flag="--add-dir") for path in add_dir or []),
        tools=settings.tools if tools is None else read_tools(tools),
        previews=tuple(parse_preview(port, None) for port in preview or []),
    )
    options = with_model(options, settings, paths, command="chat")
    full = not json_events and terminal_fits(os.environ)
    surface: Surface = (
        _terminal(options.directory, paths, settings)
        if full
        else standard_surface(json_events=json_events, asked=_asked(settings, json_events))
    )
    talk = Chat(options, settings, paths, surface, run_command, waits=not full)
    end = anyio.run(talk.run)
    if end.commits_waiting:
        surface.note(end.commits_waiting)
    if end.changed:
        surface.note(f"{end.changed} changes wait: glovebox diff {end.session}")
    return end.exit_code


def _terminal(directory: Path, paths: Paths, settings: Settings) -> TerminalSurface:
    helps = {name: what for name, _, what in template_helps(directory, paths)}
    helps |= {name: command.help for name, command in COMMANDS.items()}
    return TerminalSurface(
        Fittings(
            history=paths.said,
            commands=helps,
            terminal=open_tty(),
            name=terminal_name(STDIN),
            bell=settings.approvals.bell,
            colour=wants_colour(),
        )
    )


def _asked(settings: Settings, json_events: bool) -> Channel | None:
    """Return the person at a terminal that is too plain for an input line."""
    return open_io(quiet=False, json_events=json_events, bell=settings.approvals.bell).person()
