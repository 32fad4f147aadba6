"""``glovebox sessions``: which there are, and what was said in one."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.config.paths import Paths, paths_from
from orchestrator.schema.terminal_text import escape_terminal
from orchestrator.sessions.finding import SessionFile, find_session, list_sessions
from orchestrator.sessions.reading import read_content

SHOWN = 2000
"""Characters of one entry; ``--json`` has all of it."""

app = typer.Typer(no_args_is_help=True, help="List and show sessions.")
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_command(
    cd: Annotated[Path, typer.Option("--cd", "-C", help="Directory they worked on.")] = Path(),
    everywhere: Annotated[bool, typer.Option("--all", help="Those of all directories.")] = False,
    as_json: Json = False,
) -> None:
    """List sessions, the one written last first."""
    paths = paths_from(os.environ, Path.home())
    folder = paths.sessions if everywhere else paths.project_sessions(cd.resolve())
    found = list_sessions(folder)
    if as_json:
        rows = [{**asdict(item.header), "file": str(item.path)} for item in found]
        sys.stdout.write(json.dumps({"sessions": rows}) + "\n")
        return
    for item in found:
        sys.stdout.write(escape_terminal(_row(item)) + "\n")
    if not found:
        sys.stderr.write("no sessions here; --all shows those of other directories\n")


@app.command("show")
def show_command(
    session: Annotated[str, typer.Argument(help="Session id or the beginning of one.")],
    as_json: Json = False,
) -> None:
    """Show a session's entries in file order, each with its parent."""
    item = find_session(_paths().sessions, session)
    content = read_content(item.path.read_bytes(), name=item.path.name)
    for warning in content.warnings:
        sys.stderr.write(escape_terminal(warning) + "\n")
    for entry in content.entries:
        if as_json:
            sys.stdout.write(json.dumps(asdict(entry), ensure_ascii=False) + "\n")
            continue
        body = json.dumps(entry.body, ensure_ascii=False)
        shown = body if len(body) <= SHOWN else f"{body[:SHOWN]}…"
        parent = entry.parent or "-"
        sys.stdout.write(escape_terminal(f"{entry.id} < {parent}  {entry.type}  {shown}") + "\n")


def _paths() -> Paths:
    return paths_from(os.environ, Path.home())


def _row(item: SessionFile) -> str:
    modified = datetime.fromtimestamp(item.modified, UTC).isoformat(timespec="seconds")
    return f"{item.header.id}  {modified}  {item.header.cwd}"
