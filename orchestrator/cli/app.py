"""The typer root: a table of commands, loaded when one is named, and the one broad except."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence

import click
import typer

from orchestrator import __version__
from orchestrator.errors import GloveboxError

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("orchestrator.cli.run:run", "Put an agent to work on a directory, in a box."),
    "demo": ("orchestrator.cli.demo:demo", "See the whole thing work, with no key."),
    "diff": ("orchestrator.cli.workspace:diff", "Show what a session changed."),
    "apply": ("orchestrator.cli.workspace:apply", "Bring a session's changes to the host."),
    "discard": ("orchestrator.cli.workspace:discard", "Drop a session's changes."),
    "sessions": ("orchestrator.cli.sessions:app", "List and show sessions."),
    "policy": ("orchestrator.cli.policy:app", "Check, show, explain and test policies."),
    "keys": ("orchestrator.cli.keys:app", "Keep provider keys."),
    "audit": ("orchestrator.cli.audit:app", "Show and verify audit chains."),
    "image": ("orchestrator.cli.image:app", "Build and list sandbox images."),
    "ps": ("orchestrator.cli.boxes:ps", "List running boxes."),
    "kill": ("orchestrator.cli.boxes:kill", "End a session's box."),
    "gc": ("orchestrator.cli.boxes:gc", "Remove what dead runs left in the engine."),
    "doctor": ("orchestrator.cli.doctor:doctor", "Say what is missing, and how to mend it."),
}
"""Name to ``module:object`` and one line of help; the object is a function or a typer app."""

INTERRUPTED = 130


class LazyGroup(click.Group):
    """Loads a command's module when it is named, so that the others cost nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's form
        """Return all names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's form
        """Return one command, loaded."""
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's form
        """Write the help page's list from the table, loading nothing."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def load_command(name: str) -> click.Command:
    """Import one command's module and return it as a click command."""
    target, text = COMMANDS[name]
    module_name, _, attribute = target.partition(":")
    found = getattr(importlib.import_module(module_name), attribute)
    if isinstance(found, typer.Typer):
        command = typer.main.get_command(found)
    else:
        single = typer.Typer(add_completion=False)
        single.command(name=name, help=found.__doc__ or text)(found)
        command = typer.main.get_command(single)
    command.name = name
    return command


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Documentation: docs/ in the repository. Every command has --help.",
)
@click.version_option(
    __version__, "-V", "--version", prog_name="glovebox", message="%(prog)s %(version)s"
)
def root() -> None:
    """Glovebox: a sealed box with gloves for coding agents."""


def run_app(arguments: Sequence[str]) -> int:
    """Run the command line; the only place that catches everything."""
    try:
        result = root.main(list(arguments), prog_name="glovebox", standalone_mode=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    except GloveboxError as error:
        return report(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one broad except: a bug still ends in words
        return report_bug(error)
    return result if isinstance(result, int) else 0


def report(error: GloveboxError) -> int:
    """Say what went wrong and what to do next; return the exit code."""
    sys.stderr.write(f"glovebox: {error.message}\n")
    if error.hint:
        sys.stderr.write(f"  {error.hint}\n")
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
    sys.stderr.write(f"glovebox: internal error: {type(inner).__name__}\n")
    sys.stderr.write("  this is a bug; GLOVEBOX_DEBUG=1 prints where, please report that\n")
    if os.environ.get("GLOVEBOX_DEBUG"):
        traceback.print_exception(error)
    return 1
