"""Writes the pages that are made from the code: events, errors, command line.

``python docs/generate.py`` writes them; ``--check`` fails where one differs.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click

from orchestrator import errors
from orchestrator.cli.app import COMMANDS, load_command, root
from orchestrator.schema.event import Event

HERE = Path(__file__).parent
NOTE = "<!-- made by docs/generate.py; do not edit -->\n\n"


def events_page() -> str:
    """Return the page of the event stream."""
    lines = [
        "# Events",
        "",
        "`glovebox run --json` prints these, one JSON object a line, on stdout. Every object also",
        "holds `type`, `seq` (from 0), `time` (RFC 3339, UTC) and `session`. All text is redacted.",
        "",
        "| type | fields | when |",
        "|---|---|---|",
    ]
    for kind in Event.__subclasses__():
        names = ", ".join(f"`{item.name}`" for item in fields(kind))
        lines.append(f"| `{kind.type}` | {names} | {_first_line(kind)} |")
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    """Return the page of errors and exit codes."""
    lines = [
        "# Errors and exit codes",
        "",
        "A message says place, expected, got; an indented line says what to do next.",
        "`GLOVEBOX_DEBUG=1` adds where in the code it happened.",
        "",
        "| exit code | meaning |",
        "|---|---|",
        "| 0 | done |",
        "| 1 | failed |",
        "| 2 | usage |",
        "| 3 | stopped at an ask that nobody could answer (`--on-ask stop`); resumable |",
        "| 4 | a limit was reached; a conclusion was printed |",
        "| 5 | sandbox or engine unavailable |",
        "| 6 | the model provider failed |",
        "| 7 | policy, configuration, key or audit invalid |",
        "| 130 | interrupted; resumable |",
        "| 143 | terminated; resumable |",
        "",
        "| error | exit code | raised when |",
        "|---|---|---|",
    ]
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, errors.GloveboxError):
            lines.append(f"| `{name}` | {kind.exit_code} | {_first_line(kind)} |")
    return "\n".join(lines) + "\n"


def cli_page() -> str:
    """Return the page of the command line, from each command's own help."""
    parts = ["# Command line", "", "```", _help(root, "glovebox"), "```", ""]
    for name in COMMANDS:
        for title, command in _tree(load_command(name), f"glovebox {name}"):
            parts += [f"## {title}", "", "```", _help(command, title), "```", ""]
    return "\n".join(parts)


def _tree(command: click.Command, title: str) -> Iterator[tuple[str, click.Command]]:
    yield title, command
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _tree(inner, f"{title} {name}")


def _help(command: click.Command, title: str) -> str:
    context = click.Context(command, info_name=title, terminal_width=96, max_content_width=96)
    return (
        click.Command.get_help(command, context).rstrip()
        if not isinstance(command, click.Group)
        else _group_help(command, context)
    )


def _group_help(group: click.Group, context: click.Context) -> str:
    formatter = click.HelpFormatter(width=96)
    group.format_usage(context, formatter)
    group.format_help_text(context, formatter)
    click.Command.format_options(group, context, formatter)
    group.format_commands(context, formatter)
    return formatter.getvalue().rstrip()


def _first_line(kind: type) -> str:
    return (inspect.getdoc(kind) or "").split("\n", 1)[0]


PAGES = {"events.md": events_page, "errors.md": errors_page, "cli.md": cli_page}


def main() -> int:
    """Write or check the pages."""
    stale = []
    for name, make in PAGES.items():
        path, text = HERE / name, NOTE + make()
        if "--check" in sys.argv:
            if not path.exists() or path.read_text("utf-8") != text:
                stale.append(name)
        else:
            path.write_text(text, "utf-8")
    for name in stale:
        sys.stderr.write(f"docs/{name} is stale; run python docs/generate.py\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
