"""``glovebox run``: flags in, one ``anyio.run``, an exit code out."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import anyio
import typer

from orchestrator.cli.answer_file import ANSWER_FLAG, check_answer_file
from orchestrator.cli.review import review_end
from orchestrator.cli.run_io import RunIo, open_io
from orchestrator.cli.saying import understood
from orchestrator.config.paths import Paths, paths_from
from orchestrator.config.settings import Settings, load_settings
from orchestrator.errors import ConfigError, UsageError
from orchestrator.harness.models.remembered import Remembered, remembered
from orchestrator.harness.newcomer import Newcomer
from orchestrator.harness.options import LimitOptions, OnAsk, RunOptions, WorkspaceMode
from orchestrator.harness.preview import parse_preview
from orchestrator.harness.record import session_file
from orchestrator.harness.run import run_session
from orchestrator.harness.winding import RunEnd
from orchestrator.named_file import real_path
from orchestrator.policy.units import parse_duration
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.schema.thinking import THINKING_LEVELS, ThinkingLevel
from orchestrator.tools.registry import builtin_tools

DEFAULT_POLICY = Settings().policy
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Approve = Annotated[
    str | None,
    typer.Option(
        help="ask waits for an answer, also from elsewhere; deny; or a file of recorded answers.",
        metavar="ask|deny|FILE",
    ),
]
Tools = Annotated[
    str | None,
    typer.Option(help="Tools on offer, by comma: read,write,edit,bash,grep,find,ls,process."),
]

Thinking = Annotated[
    str | None,
    typer.Option(help="How hard to think: off, minimal, low, medium, high, xhigh, max."),
]

Fork = Annotated[
    bool,
    typer.Option(
        "--fork", help="Go on with a copy of that session, in a fresh workspace of its directory."
    ),
]
Skill = Annotated[
    str | None,
    typer.Option(help="Skill to work by; off: none; auto: words choose.", metavar="NAME"),
]
Environment = Annotated[
    list[str] | None,
    typer.Option(help="A variable for commands in the box; no secrets.", metavar="NAME=VALUE"),
]
AddDirs = Annotated[
    list[Path] | None,
    typer.Option(help="A further directory, read-only at /dirs/NAME; repeatable.", metavar="DIR"),
]


def run(
    prompt: Annotated[
        str | None,
        typer.Argument(help="What to do; /NAME of a template, /skill NAME; - reads stdin."),
    ] = None,
    cd: Annotated[Path, typer.Option("--cd", "-C", help="Directory to work on.")] = Path(),
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="provider/name, local, or scripted:FILE."),
    ] = None,
    thinking: Thinking = None,
    skill: Skill = None,
    policy: Annotated[
        list[str] | None, typer.Option(help="A shipped policy's name or a file; repeatable.")
    ] = None,
    print_only: Annotated[
        bool,
        typer.Option("--print", "-p", help="Only the answer: no progress, but errors, on stderr."),
    ] = False,
    json_events: Annotated[
        bool, typer.Option("--json", help="Print events, one JSON object a line.")
    ] = False,
    approve: Approve = None,
    on_ask: Annotated[
        Literal["deny", "stop"],
        typer.Option(
            help="What an ask that nobody answers does: deny it, or stop (exit 3) and keep it."
        ),
    ] = "deny",
    yolo: Annotated[
        bool,
        typer.Option(help="Answer yes to every ask that a blanket yes may answer; recorded."),
    ] = False,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Model turns.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens of this run.")] = None,
    max_budget_usd: Annotated[float | None, typer.Option(min=0, help="US$ of this run.")] = None,
    max_time: Annotated[str | None, typer.Option(help="Wall time, such as 30m.")] = None,
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
    apply_changes: Annotated[
        bool, typer.Option("--apply", help="Apply the changes at the end without asking.")
    ] = False,
    output_schema: Annotated[
        Path | None,
        typer.Option(help="Answer with JSON that follows this JSON Schema.", metavar="FILE"),
    ] = None,
    output_last_message: Annotated[
        Path | None, typer.Option(help="Write the answer to this file too.", metavar="FILE")
    ] = None,
) -> int:
    """Put an agent to work on a directory, in a box.

    The answer goes to stdout, progress to stderr. Changes wait for `glovebox apply` unless
    --apply is given or you say yes at the end.
    """
    if output_last_message is not None:
        check_answer_file(output_last_message, schema=output_schema)
    paths = paths_from(os.environ, Path.home())
    settings = load_settings(paths.config / "config.yaml", os.environ)
    directory = chosen_directory(cd)
    said = read_prompt(prompt, resuming=bool(resume or resume_latest))
    typed = understood(said, directory, paths, piped=prompt == "-")
    options = RunOptions(
        prompt=typed.text,
        directory=directory,
        model=model or "",
        small_model=settings.small_model,
        fallback=settings.fallback,
        thinking=read_thinking(thinking),
        skill=typed.skill or skill,
        policies=tuple(policy or settings.policy),
        approve=approve,
        on_ask=_on_ask(on_ask),
        yolo=yolo,
        limits=LimitOptions(
            steps=max_steps,
            tokens=max_tokens,
            cost_usd=max_budget_usd,
            wall_time_s=read_seconds(max_time),
        ),
        resume=resume,
        resume_latest=resume_latest,
        fork=read_fork(fork, resuming=bool(resume or resume_latest)),
        image=image or settings.image,
        workspace=chosen_mode(workspace or settings.workspace),
        environment=read_environment(env or []),
        git_identity="none" if git_identity == "none" else "host",
        add_dirs=tuple(chosen_directory(path, flag="--add-dir") for path in add_dir or []),
        tools=settings.tools if tools is None else read_tools(tools),
        previews=tuple(parse_preview(port, None) for port in preview or []),
        output_schema=output_schema,
    )
    options = with_model(options, settings, paths, command="run")
    io = open_io(quiet=print_only, json_events=json_events, bell=settings.approvals.bell)
    if not policy and settings.policy == DEFAULT_POLICY and not (resume or resume_latest):
        options = _for_newcomer(options, paths, io)
    end = anyio.run(partial(run_session, options, settings, paths, front=io))
    told = _answer(end, io, copy_to=output_last_message)
    code = end.exit_code or told
    if end.commits_waiting:
        io.note(end.commits_waiting)
    if end.workspace_mode == "none" or not end.readable:
        return code
    reviewed = review_end(paths, end.session, io, apply_now=apply_changes)
    return code or reviewed


def _for_newcomer(options: RunOptions, paths: Paths, io: RunIo) -> RunOptions:
    """Return the options with the policies for a directory that may be new here."""
    person = io.person() if options.approve in {None, "ask"} else None
    remarks: list[str] = []
    newcomer = Newcomer(paths, person, remarks.append)
    policies = anyio.run(newcomer.policies, options.directory, options.policies)
    return replace(options, policies=policies, remarks=() if io.quiet else tuple(remarks))


def _answer(end: RunEnd, io: RunIo, *, copy_to: Path | None) -> int:
    """Print the answer, but not where the same terminal has just shown it; 1 without the copy."""
    seen = not io.quiet and sys.stdout.isatty() and sys.stderr.isatty()
    if not io.json_events and end.answer and not seen:
        sys.stdout.write(end.answer.rstrip("\n") + "\n")
        sys.stdout.flush()
    if copy_to is not None:
        try:
            copy_to.write_text(end.answer, "utf-8")
        except OSError as error:
            # It could be at the start; the work is done all the same, and is not lost for this.
            io.note(escape_terminal(f"{ANSWER_FLAG} {copy_to}: {error.strerror}"))
            return 1
    return 0


def read_prompt(prompt: str | None, *, resuming: bool) -> str | None:
    """Return the prompt; stdin is read only for ``-``, or a terminal is asked for nothing."""
    if prompt == "-":
        return sys.stdin.read()
    if not (prompt or "").strip() and not resuming:
        raise UsageError("run: expected a prompt, got none", hint="give it as text, or - for stdin")
    return prompt


def read_fork(fork: bool, *, resuming: bool) -> bool:
    """Return whether a copy is gone on with; UsageError where there is nothing to copy."""
    if fork and not resuming:
        raise UsageError(
            "--fork: expected a session to copy, got none",
            hint="name it with --resume ID, or take the newest with --continue",
        )
    return fork


def read_seconds(given: str | None) -> float | None:
    """Return a wall time in seconds; UsageError for what is none."""
    if given is None:
        return None
    try:
        return parse_duration(given)
    except ValueError as error:
        raise UsageError(f"--max-time: {error}") from error


def read_environment(given: list[str]) -> dict[str, str]:
    """Return the variables of ``NAME=VALUE`` words; the last of a name holds."""
    found = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not equals or not _NAME.fullmatch(name) or "\0" in value:
            raise UsageError(
                f"--env {name}: expected NAME=VALUE, a name of letters, digits and _",
                hint="a value of the host's own environment is written out: --env CI=$CI",
            )
        found[name] = value
    return found


def read_tools(given: str) -> tuple[str, ...]:
    """Return the names in a list by comma; UsageError for one that is no tool."""
    names = tuple(name.strip() for name in given.split(","))
    try:
        builtin_tools(names)
    except ConfigError as error:
        # The same word in a configuration file is the file's fault, on a command line it is not.
        raise UsageError(f"--{error.message}", hint=error.hint) from error
    return names


def chosen_directory(given: Path, *, flag: str = "--cd") -> Path:
    directory = real_path(given)
    if not directory.is_dir():
        raise UsageError(f"{flag} {given}: expected a directory, found none")
    return directory


def with_model(
    options: RunOptions, settings: Settings, paths: Paths, *, command: str
) -> RunOptions:
    """Return the options with a model: a flag's, or that of the session taken up, or a setting's.

    Raises UsageError where nobody chose one.
    """
    resuming = options.resume is not None or options.resume_latest
    last = remembered(session_file(options, paths)) if resuming else Remembered()
    name = options.model or last.name or settings.model
    if not name:
        raise UsageError(
            f"{command}: no model is chosen",
            hint="give -m provider/name, or set 'model:' in config.yaml; -m local needs no key",
        )
    return replace(
        options, model=name, thinking=options.thinking or last.thinking or settings.thinking
    )


def read_thinking(word: str | None) -> ThinkingLevel | None:
    """Return the level of that name; UsageError for a word that is none."""
    level = next((known for known in THINKING_LEVELS if known == word), None)
    if word is not None and level is None:
        raise UsageError(f"--thinking: expected one of {', '.join(THINKING_LEVELS)}, got {word!r}")
    return level


def _on_ask(word: str) -> OnAsk:
    return "stop" if word == "stop" else "deny"


def chosen_mode(word: str | None) -> WorkspaceMode | None:
    known: tuple[WorkspaceMode, ...] = ("overlay", "copy", "bind", "none")
    return next((mode for mode in known if mode == word), None)
