"""The typer root: a table of commands, loaded when one is named, and the one broad except."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from orchestrator import __version__
from orchestrator.errors import GloveboxError
from orchestrator.named_file import NO_ROOM
from orchestrator.schema.terminal_text import escape_terminal

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("orchestrator.cli.run:run", "Put an agent to work on a directory, in a box."),
    "chat": ("orchestrator.cli.chat.command:chat", "Talk with an agent that works in a box."),
    "wrap": ("orchestrator.cli.wrap:wrap", "Run a program of yours, an agent say, in a box."),
    "shell": ("orchestrator.cli.shell:shell", "Open a box for yourself, without a model."),
    "attach": ("orchestrator.cli.attach:attach", "Open a terminal in a running session's box."),
    "preview": ("orchestrator.cli.preview:preview", "Reach a server in a running session's box."),
    "demo": ("orchestrator.cli.demo:demo", "See the whole thing work, with no key."),
    "diff": ("orchestrator.cli.workspace:diff", "Show what a session changed."),
    "apply": ("orchestrator.cli.apply:apply", "Bring a session's changes to the host."),
    "discard": ("orchestrator.cli.workspace:discard", "Drop a session's changes."),
    "rewind": ("orchestrator.cli.rewind:rewind", "Go back to an earlier turn of a session."),
    "sessions": ("orchestrator.cli.sessions:app", "Show, copy, find, count and tidy sessions."),
    "skills": ("orchestrator.cli.skills:app", "List and check skills."),
    "policy": ("orchestrator.cli.policy:app", "Check, show, explain and test policies."),
    "prompt": ("orchestrator.cli.prompt:app", "Show the system prompt and prompt templates."),
    "keys": ("orchestrator.cli.keys:app", "Keep provider keys."),
    "audit": ("orchestrator.cli.audit:app", "Show and verify audit chains."),
    "image": ("orchestrator.cli.image:app", "Build and list sandbox images."),
    "home": ("orchestrator.cli.home:app", "List and remove the homes that projects keep."),
    "approvals": ("orchestrator.cli.approvals:app", "Answer questions; list and revoke yeses."),
    "trust": ("orchestrator.cli.trust:trust", "Say whether a project's own image may be used."),
    "pool": ("orchestrator.cli.pool:app", "Keep boxes ready for the next session."),
    "ps": ("orchestrator.cli.boxes:ps", "List running boxes."),
    "kill": ("orchestrator.cli.boxes:kill", "End a session's box."),
    "gc": ("orchestrator.cli.boxes:gc", "Remove what dead runs left."),
    "doctor": ("orchestrator.cli.doctor:doctor", "Say what is missing, and how to mend it."),
}
"""Name to ``module:object`` and one line of help; the object is a function or a typer app."""

PASSING_ON = frozenset({"wrap"})
"""Commands whose arguments, from the first word that is no option, belong to another program."""

INTERRUPTED = 130


class LazyGroup(TyperGroup):
    """Loads a command's module when it is named, so that the others cost nothing."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the library's form
        """Return all names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - the library's form
        """Return one command, loaded."""
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help page from the table, loading nothing."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])
        with formatter.section("Options"):
            formatter.write_dl(
                [("-V, --version", "Print the version."), ("-h, --help", "Print this.")]
            )


def load_command(name: str) -> Any:
    """Import one command's module and return it as the library's command."""
    target, text = COMMANDS[name]
    module_name, _, attribute = target.partition(":")
    found = getattr(importlib.import_module(module_name), attribute)
    if not isinstance(found, typer.Typer):
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        settings = {"allow_interspersed_args": name not in PASSING_ON}
        single.command(name=name, help=found.__doc__ or text, context_settings=settings)(
            exiting(found)
        )
        found = single
    else:
        for info in found.registered_commands:
            if info.callback is not None:
                info.callback = exiting(info.callback)
    found.rich_markup_mode = None
    command = typer.main.get_command(found)
    command.name = name
    return command


def exiting(function: Callable[..., int | None]) -> Callable[..., None]:
    """Return the function with its result as the exit code."""

    @functools.wraps(function)
    def wrapped(*arguments: Any, **options: Any) -> None:
        code = function(*arguments, **options)
        if code:
            raise typer.Exit(code)

    return wrapped


_ROOM = "free space, and do it again"

app = typer.Typer(
    cls=LazyGroup,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def print_version(wanted: bool) -> None:
    """Print the version and end, where it was asked for."""
    if wanted:
        sys.stdout.write(f"glovebox {__version__}\n")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", help="Print the version.", callback=print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Glovebox: a sealed box with gloves for coding agents."""


def run_app(arguments: Sequence[str]) -> int:
    """Run the command line; the only place that catches everything."""
    try:
        typer.main.get_command(app)(list(arguments), prog_name="glovebox")
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    except GloveboxError as error:
        return report(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one broad except: a bug still ends in words
        return report_bug(error)
    return 0


def report(error: GloveboxError) -> int:
    """Say what went wrong and what to do next; return the exit code."""
    sys.stderr.write(f"glovebox: {escape_terminal(error.message, keep_newlines=True)}\n")
    if error.hint:
        sys.stderr.write(f"  {escape_terminal(error.hint, keep_newlines=True)}\n")
    if os.environ.get("GLOVEBOX_DEBUG"):
        traceback.print_exception(error)
    return error.exit_code


def report_bug(error: Exception) -> int:
    """Say that this is a bug; without the traceback, which could hold a value."""
    inner: BaseException = error
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    if isinstance(inner, GloveboxError):
        return report(inner)
    if isinstance(inner, OSError) and inner.errno in NO_ROOM:
        where = f"{inner.filename}: " if inner.filename else ""
        return report(GloveboxError(f"{where}cannot be written: {inner.strerror}", hint=_ROOM))
    sys.stderr.write(f"glovebox: internal error: {type(inner).__name__}\n")
    sys.stderr.write("  this is a bug; GLOVEBOX_DEBUG=1 prints where, please report that\n")
    if os.environ.get("GLOVEBOX_DEBUG"):
        traceback.print_exception(error)
    return 1
